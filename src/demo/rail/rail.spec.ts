import { describe, expect, it } from '@jest/globals';
import { type ChildRow, entryOf } from './entry.js';
import { painted, unpainted } from './paint.js';
import { censusLine, railLines } from './rail.js';
import { widthOf } from '../../text/terminal-text.js';

const row: ChildRow = {
  id: 'conv_1',
  title: 'coder:fix',
  tool: 'coder',
  session_name: 'fix',
  current_task_status: 'in_progress',
  busy: true,
  labels: {},
  last_task_error: null,
  last_message_preview: 'Working on it.',
  pending_elicitations_count: 0,
  pending_self: 0,
};

const lineOf = (change: Partial<ChildRow>, width = 60): string =>
  railLines([entryOf({ ...row, ...change }, 0)], width, unpainted)[0] ?? '';

describe('a line of the rail', () => {
  it.each<[string, Partial<ChildRow>, string]>([
    ['running', {}, '  ● coder/fix    Working on it.'],
    [
      'waiting for a person',
      { pending_self: 1, pending_elicitations_count: 1 },
      '  ◆ coder/fix  [1]  Working on it.',
    ],
    ['running while a child waits', { pending_elicitations_count: 2 }, '  ● coder/fix  [2]  Working on it.'],
    ['done', { busy: false, current_task_status: 'completed' }, '  ✓ coder/fix    Working on it.'],
    ['new', { busy: false, current_task_status: null, last_message_preview: null }, '  ○ coder/fix'],
    [
      'failed',
      {
        busy: false,
        current_task_status: 'failed',
        last_task_error: { code: 'x', message: 'Out of disk.' },
      },
      '  ✗ coder/fix    Out of disk.',
    ],
    [
      'closed',
      { busy: false, current_task_status: 'completed', labels: { 'omnigent.closed': 'true' } },
      '  ✓ coder/fix    closed: Working on it.',
    ],
    ['without a name', { session_name: null }, '  ● coder    Working on it.'],
    ['without anything', { tool: null, session_name: null, title: null }, '  ● untitled    Working on it.'],
  ])('%s', (_what, change, line) => {
    expect(lineOf(change)).toBe(line);
  });

  it('obeys nothing that a message says', () => {
    expect(lineOf({ last_message_preview: '\u001b[2Jgone\u0007', tool: 'co\u001b[31mder' })).toBe(
      '  ● coder/fix    gone␇',
    );
  });
});

describe('the rail', () => {
  const entries = [0, 1, 2].flatMap((depth) => [
    entryOf({ ...row, session_name: 'a name that goes on and on and never comes to an end' }, depth),
    entryOf(
      { ...row, last_message_preview: '大阪のお客様'.repeat(20), pending_elicitations_count: 12 },
      depth,
    ),
  ]);

  it.each([40, 80, 100, 120])('fits %i columns', (width) => {
    for (const line of railLines(entries, width, unpainted)) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });

  it('takes the same columns in colour', () => {
    const plainWidths = railLines(entries, 80, unpainted).map(widthOf);
    const paintedLines = railLines(entries, 80, painted);
    expect(paintedLines.map(widthOf)).toEqual(plainWidths);
    expect(paintedLines.join('')).toContain('\u001b[36m');
  });

  it('counts what it shows', () => {
    expect(censusLine(entries, 1)).toBe('2 children, 4 below them, 1 open question');
    expect(censusLine(entries.slice(0, 1), 0)).toBe('1 child, 0 below it, no open question');
  });
});
