import { describe, expect, it } from '@jest/globals';
import {
  hasErrorText,
  mergeLabels,
  reservedKey,
  shownLabels,
  statesTaskError,
  taskErrorIn,
  taskErrorLabels,
  toStoredLabels,
  withoutTaskError,
} from './labels.js';

const code = 'omnigent.last_task_error_code';
const text = 'omnigent.last_task_error_message';

describe('labels', () => {
  it.each<[Record<string, string>, string | null]>([
    [{ a: '1' }, null],
    [{ a: '1', 'omnigent.turn_actor': 'x' }, 'omnigent.turn_actor'],
    [{ 'cost_control.mode': 'x' }, 'cost_control.mode'],
    [{ 'omnigent.pinned.x': '1' }, 'omnigent.pinned.x'],
    [{ 'omnigent.wrapper': 'claude-code-native-ui' }, null],
  ])('of %j only the system writes %j', (labels, key) => {
    expect(reservedKey(labels)).toBe(key);
  });

  it('are stored with values of at most 256 code points and without the closed label', () => {
    const stored = toStoredLabels({ a: '😀'.repeat(300), b: 'x'.repeat(256), 'omnigent.closed': 'true' });
    expect(stored).toEqual({ a: '😀'.repeat(256), b: 'x'.repeat(256) });
  });

  it('keep a key that looks like a prototype as data', () => {
    const labels = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>;
    expect(Object.entries(toStoredLabels(labels))).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it('merge over what stands, and show the closed state', () => {
    expect(mergeLabels({ a: '1', b: '1' }, { b: '2' })).toEqual({ a: '1', b: '2' });
    expect(shownLabels({ a: '1' }, true)).toEqual({ a: '1', 'omnigent.closed': 'true' });
    expect(shownLabels({ a: '1' }, false)).toEqual({ a: '1' });
  });
});

describe('the durable failure in labels (contract/sessions.md 4.4)', () => {
  it.each<[Record<string, string>, object | null]>([
    [{}, null],
    [{ [code]: 'c' }, null],
    [{ [code]: 'c', [text]: '' }, null],
    [{ [code]: '', [text]: 'm' }, null],
    [
      { [code]: 'c', [text]: 'm' },
      { code: 'c', message: 'm' },
    ],
    [
      {
        [code]: 'c',
        [text]: 'm',
        'omnigent.last_task_error_title': 't',
        'omnigent.last_task_error_cause': '',
      },
      { code: 'c', message: 'm', title: 't' },
    ],
  ])('%j says %j', (labels, error) => {
    expect(taskErrorIn(labels)).toEqual(error);
    expect(statesTaskError(labels)).toBe(Object.keys(labels).length > 0);
    const cleared = withoutTaskError({ ...labels, kept: '1' });
    expect(cleared).toEqual({ ...(statesTaskError(labels) ? taskErrorLabels(null) : {}), kept: '1' });
    expect([taskErrorIn(cleared), hasErrorText(cleared)]).toEqual([null, false]);
  });

  it('is written whole, each text within the length of a label', () => {
    const labels = taskErrorLabels({ code: 'c', message: '🟡'.repeat(257), title: 't'.repeat(256) });
    expect(labels).toEqual({
      [code]: 'c',
      [text]: `${'🟡'.repeat(255)}…`,
      'omnigent.last_task_error_title': 't'.repeat(256),
      'omnigent.last_task_error_cause': '',
      'omnigent.last_task_error_remediation': '',
    });
    expect(hasErrorText(labels)).toBe(true);
  });
});
