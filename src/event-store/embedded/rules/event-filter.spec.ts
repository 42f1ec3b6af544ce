import { describe, expect, it } from '@jest/globals';
import type { FilterOptions } from './event-filter.js';
import { NumberedFilter, checkpointInterval, compileFilter } from './event-filter.js';

const options = (given: Partial<FilterOptions>): FilterOptions => ({
  on: 'stream-name',
  regex: undefined,
  prefixes: [],
  window: undefined,
  checkpointIntervalMultiplier: 1,
  ...given,
});

const search = (pattern: RegExp, names: readonly string[]) => names.map((name) => pattern.test(name));

describe('a filter', () => {
  it.each([
    ['^order-', 'order-1', true],
    ['^order-', 'reorder-1', false],
    ['der', 'order-1', true],
    ['^[^$].*', '$users', false],
    ['(?i)^ORDER', 'order-1', true],
  ])('by the pattern %s finds %s: %s', (regex, name, found) => {
    expect(compileFilter(options({ regex }), search)([name])).toEqual([found]);
  });

  it.each(['(', '[a-z-[aeiou]]'])('by a pattern that cannot be compiled is refused: %s', (regex) => {
    expect(() => compileFilter(options({ regex }), search)).toThrow('cannot be compiled');
  });

  it('by prefixes takes them literally', () => {
    const matches = compileFilter(options({ prefixes: ['a.', 'b'] }), search);
    expect(matches(['a.x', 'ax', 'bx', 'xb'])).toEqual([true, false, true, false]);
  });

  it('by nothing is refused', () => {
    expect(() => compileFilter(options({}), search)).toThrow('neither a regex nor a prefix');
  });

  it('asks for each name once', () => {
    const asked: bigint[] = [];
    const filter = new NumberedFilter(
      (names) => names.map((name) => name === 'wanted'),
      (id) => {
        asked.push(id);
        return Buffer.from(id === 1n ? 'wanted' : 'other');
      },
    );
    expect(filter.accepts([1n, 2n, 1n, 2n])).toEqual([true, false, true, false]);
    expect(filter.accepts([2n])).toEqual([false]);
    expect(asked).toEqual([1n, 2n]);
  });
});

describe('the interval between checkpoints', () => {
  it.each([
    [{ checkpointIntervalMultiplier: 1 }, 32],
    [{ checkpointIntervalMultiplier: 4 }, 128],
    [{ checkpointIntervalMultiplier: 2, window: 10 }, 20],
  ])('for %j is %s events', (given, interval) => {
    expect(checkpointInterval(options(given))).toBe(interval);
  });

  it('must be more than nothing', () => {
    expect(() => checkpointInterval(options({ checkpointIntervalMultiplier: 0 }))).toThrow('at least 1');
    expect(() => checkpointInterval(options({ window: 0 }))).toThrow('at least 1');
  });
});
