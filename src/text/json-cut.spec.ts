import { expect, it } from '@jest/globals';
import { cutToJsonBytes } from './json-cut.js';

it.each([
  ['plain', 'x'.repeat(1_000)],
  ['escaped', '\u0001"\n'.repeat(500)],
  ['wide', '🟡ä'.repeat(500)],
])('a %s text is cut to the bytes that it takes in JSON', (_what, text) => {
  for (const limit of [0, 1, 100, 101, 102, 103]) {
    const kept = cutToJsonBytes(text, limit);
    expect(text.startsWith(kept)).toBe(true);
    expect(kept.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(kept)) - 2).toBeLessThanOrEqual(limit);
    expect(kept.length).toBeGreaterThanOrEqual(limit >= 100 ? 9 : 0);
  }
});

it('a text that fits stays', () => {
  expect(cutToJsonBytes('ä"', 4)).toBe('ä"');
});
