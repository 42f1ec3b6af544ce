import { describe, expect, it } from '@jest/globals';
import { ENTRY_BYTES, NameCache } from './name-cache.js';

const LIMIT = 100_000;
const name = (number: number, length: number) => Buffer.from(String(number).padStart(length, '-'));

describe('a cache by names', () => {
  it('tells names apart by their bytes, text or not', () => {
    const cache = new NameCache<bigint>();
    const names = [Buffer.of(0xc3, 0xa9), Buffer.of(0xe9), Buffer.of(0xff, 0), Buffer.of(0xff)];
    names.forEach((bytes, index) => cache.set(bytes, BigInt(index)));
    expect(names.map((bytes) => cache.get(bytes))).toEqual([0n, 1n, 2n, 3n]);
  });

  it.each([8, 30_000])('of %s bytes holds no more than its limit, and keeps the newest', (length) => {
    const cache = new NameCache<bigint>(LIMIT);
    for (let index = 0; index < 2_000; index += 1) cache.set(name(index, length), BigInt(index));
    expect(cache.bytes).toBeLessThanOrEqual(LIMIT);
    expect(cache.bytes).toBeGreaterThan(LIMIT - length - ENTRY_BYTES);
    expect(cache.get(name(1_999, length))).toBe(1_999n);
    expect(cache.get(name(0, length))).toBeUndefined();
  });

  it('forgets one name or all', () => {
    const cache = new NameCache<bigint>();
    for (const index of [1, 2, 3]) cache.set(name(index, 5), BigInt(index));
    cache.delete(name(1, 5));
    expect([1, 2].map((index) => cache.get(name(index, 5)))).toEqual([undefined, 2n]);
    cache.clear();
    expect(cache.get(name(2, 5))).toBeUndefined();
  });
});
