import { firstCodePoints, fitsCodePoints } from '../../text/code-points.js';

/** Code points, never UTF-16 units (`contract/sessions.md` 1.8, 4.5). */
const PREVIEW_LENGTH = 150;
const TITLE_SEED_LENGTH = 60;
const ELLIPSIS = '…';
/** JavaScript's `\s` leaves out NEL and the separators U+001C to U+001F, which would break a one-line row. */
const WHITESPACE = /[\s\u0085\u001c-\u001f]+/gu;
/** Whether there is anything to collapse: most texts have single blanks only, and to replace each costs more than to look. */
const COLLAPSIBLE = /[^\S ]|[\u0085\u001c-\u001f]| {2}/u;
const TEXT_BLOCKS = new Set(['input_text', 'output_text']);

/**
 * One line of what a message says, or null when it shows nothing: meta messages, other roles and messages of images
 * or blanks only never replace a preview.
 */
export function previewOf(itemType: string, payload: Readonly<Record<string, unknown>>): string | null {
  if (itemType !== 'message' || payload['is_meta'] === true) return null;
  if (payload['role'] !== 'user' && payload['role'] !== 'assistant') return null;
  const text = oneLine(payload['content']);
  return text === '' ? null : cut(text, PREVIEW_LENGTH);
}

/** The title that a first user message gives to a session without one (`contract/sessions.md` 5.5), else null. */
export function titleSeed(itemType: string, payload: Readonly<Record<string, unknown>>): string | null {
  if (itemType !== 'message' || payload['is_meta'] === true || payload['role'] !== 'user') return null;
  const text = oneLine(payload['content']);
  return text === '' ? null : cut(text, TITLE_SEED_LENGTH);
}

function oneLine(content: unknown): string {
  if (typeof content === 'string') return collapse(content);
  if (!Array.isArray(content)) return '';
  return collapse(content.map(textOfBlock).join(' '));
}

function textOfBlock(block: unknown): string {
  if (typeof block !== 'object' || block === null) return '';
  const { type, text } = block as { type?: unknown; text?: unknown };
  return typeof type === 'string' && TEXT_BLOCKS.has(type) && typeof text === 'string' ? text : '';
}

function collapse(text: string): string {
  return (COLLAPSIBLE.test(text) ? text.replaceAll(WHITESPACE, ' ') : text).trim();
}

function cut(text: string, length: number): string {
  return fitsCodePoints(text, length) ? text : firstCodePoints(text, length - 1).trimEnd() + ELLIPSIS;
}
