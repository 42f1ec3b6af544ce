import { describe, expect, it } from '@jest/globals';
import { RecentIds } from './recent-ids.js';

const write = (stream: bigint, revision: bigint) => ({ stream, revision, position: revision * 100n });

describe('the memory of recent ids', () => {
  it('finds where an id was written, in that stream only', () => {
    const recent = new RecentIds();
    recent.remember('a', write(1n, 5n));
    expect(recent.find('a', 1n)).toEqual(write(1n, 5n));
    expect(recent.find('a', 2n)).toBeUndefined();
    expect(recent.find('b', 1n)).toBeUndefined();
  });

  it('forgets the oldest first and never grows beyond its capacity', () => {
    const recent = new RecentIds(3);
    for (const id of ['a', 'b', 'c']) recent.remember(id, write(1n, 0n));
    recent.remember('a', write(1n, 9n));
    recent.remember('d', write(1n, 1n));
    expect(recent.find('b', 1n)).toBeUndefined();
    expect(['a', 'c', 'd'].map((id) => recent.find(id, 1n) !== undefined)).toEqual([true, true, true]);
  });
});
