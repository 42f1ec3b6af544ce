import { describe, expect, it } from '@jest/globals';
import { isSafeText, toSafeJson, toSafeText } from './well-formed.js';

describe('text that every surface can show (design 13.11)', () => {
  it.each<[string, string]>([
    ['plain', 'plain'],
    ['😀 and é', '😀 and é'],
    ['a\u0000b', 'a\uFFFDb'],
    ['\ud83d', '\uFFFD'],
    ['x\udfe1y', 'x\uFFFDy'],
    ['\udfe1\ud83d', '\uFFFD\uFFFD'],
    ['', ''],
  ])('%j is shown as %j', (text, shown) => {
    expect(toSafeText(text)).toBe(shown);
    expect(isSafeText(text)).toBe(text === shown);
    expect(isSafeText(shown)).toBe(true);
  });

  it('goes through JSON values deep down, keys included', () => {
    const value = { 'k\u0000': ['\ud83d', { deep: 'ok' }], n: 1, b: null };
    expect(toSafeJson(value)).toEqual({ 'k\uFFFD': ['\uFFFD', { deep: 'ok' }], n: 1, b: null });
    expect(value).toEqual({ 'k\u0000': ['\ud83d', { deep: 'ok' }], n: 1, b: null });
  });

  it('gives back the same reference when nothing had to change', () => {
    const value = { list: ['a', { b: 'c' }] };
    expect(toSafeJson(value)).toBe(value);
  });

  it('keeps a key that looks like a prototype as data', () => {
    const value: unknown = JSON.parse('{"__proto__":"\\u0000","a":1}');
    expect(JSON.stringify(toSafeJson(value))).toBe('{"__proto__":"\uFFFD","a":1}');
  });
});
