import type { EntryState, RailEntry } from './entry.js';
import type { Paint, Style } from './paint.js';
import { column, fit, plain, widthOf } from '../../text/terminal-text.js';

const GLYPHS: Readonly<Record<EntryState, { readonly glyph: string; readonly style: Style }>> = {
  running: { glyph: '●', style: 'cyan' },
  waiting: { glyph: '◆', style: 'yellow' },
  done: { glyph: '✓', style: 'green' },
  failed: { glyph: '✗', style: 'red' },
  new: { glyph: '○', style: 'dim' },
};

const LEGEND = '● running  ◆ waits for you  ✓ done  ✗ failed  ○ new  [n] open questions';
const INDENT = 2;
/** Blanks before the glyph, after it, and on both sides of the badges. */
const MARGINS = 2 + 1 + 1 + 2 + 2;
/** The handles never take more of a line than this. */
const HANDLE_SHARE = 0.4;

/** The rail as lines of at most `width` columns: one for each entry, then what the signs mean. */
export function railLines(entries: readonly RailEntry[], width: number, paint: Paint): string[] {
  const handles = entries.map(handleColumn);
  const handleWidth = Math.min(Math.max(0, ...handles.map(widthOf)), Math.floor(width * HANDLE_SHARE));
  const badges = entries.map(({ pending }) => (pending === 0 ? '' : `[${pending}]`));
  const badgeWidth = Math.max(0, ...badges.map(widthOf));
  const textWidth = Math.max(0, width - MARGINS - handleWidth - badgeWidth);
  const lines = entries.map((entry, index) => {
    const { glyph, style } = GLYPHS[entry.state];
    const handle = column(handles[index] ?? '', handleWidth);
    const badge = column(badges[index] ?? '', badgeWidth);
    const text = fit(textOf(entry), textWidth);
    return [
      `  ${paint(style, glyph)} ${entry.closed ? paint('dim', handle) : handle}`,
      paint('yellow', badge),
      entry.state === 'failed' ? paint('red', text) : paint('dim', text),
    ]
      .join('  ')
      .trimEnd();
  });
  return [...lines, '', `  ${paint('dim', fit(LEGEND, width - 2))}`];
}

/** How many there are, and how many questions are open. */
export function censusLine(entries: readonly RailEntry[], open: number): string {
  const children = entries.filter(({ depth }) => depth === 0).length;
  const below = entries.length - children;
  return [
    `${children} ${children === 1 ? 'child' : 'children'}`,
    `${below} below ${children === 1 ? 'it' : 'them'}`,
    open === 0 ? 'no open question' : `${open} open question${open === 1 ? '' : 's'}`,
  ].join(', ');
}

function handleColumn({ depth, handle }: RailEntry): string {
  return ' '.repeat(INDENT * depth) + plain(handle);
}

/** Why it failed matters more than what it said last. */
function textOf({ closed, failure, preview }: RailEntry): string {
  const parts = [closed ? 'closed' : null, failure ?? preview].filter((part) => part !== null);
  return parts.map(plain).join(': ');
}
