import { describe, expect, it } from '@jest/globals';
import { BackOff } from './back-off.js';

function backOff(chance = 0.5): { tries: BackOff; at: (milliseconds: number) => void } {
  let now = 0;
  const tries = new BackOff({
    firstMs: 100,
    longestMs: 1_000,
    names: 3,
    now: () => now,
    chance: () => chance,
  });
  return { tries, at: (milliseconds) => (now = milliseconds) };
}

/** How long after its n-th failure in a row a name is due again. */
function pauses(failures: number, chance = 0.5): number[] {
  const { tries, at } = backOff(chance);
  let now = 0;
  return Array.from({ length: failures }, () => {
    const begun = now;
    tries.failed('a');
    while (!tries.isDue('a')) at((now += 1));
    return now - begun;
  });
}

describe('what was tried in vain', () => {
  it('is due again after ever longer pauses, up to the longest', () => {
    expect(pauses(6)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('is not due together with everything else that failed then', () => {
    expect(pauses(2, 0)).toEqual([75, 150]);
    expect(pauses(2, 1)).toEqual([125, 250]);
  });

  it('keeps nothing else waiting', () => {
    const { tries } = backOff();
    tries.failed('a');
    expect([tries.isDue('a'), tries.isDue('b')]).toEqual([false, true]);
  });

  it('counts as failing until it is done, or nobody tries it any more', () => {
    const { tries, at } = backOff();
    tries.failed('a');
    tries.failed('b');
    expect(tries.failing).toBe(2);
    tries.done('b');
    expect(tries.failing).toBe(1);
    at(60_000);
    expect(tries.failing).toBe(0);
  });

  it('begins with the first pause again after a success', () => {
    const { tries, at } = backOff();
    tries.failed('a');
    tries.failed('a');
    tries.done('a');
    tries.failed('a');
    at(100);
    expect(tries.isDue('a')).toBe(true);
  });

  it('is forgotten beyond so many names', () => {
    const { tries } = backOff();
    for (const name of ['a', 'b', 'c', 'd']) tries.failed(name);
    expect([tries.isDue('a'), tries.isDue('d')]).toEqual([true, false]);
  });
});
