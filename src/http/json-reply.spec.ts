import { replyJson } from './json-reply.js';

describe('the JSON of an answer', () => {
  it('is plain JSON for plain values', () => {
    const value = { a: [1, null, 'ä😀', { b: true }], c: undefined };
    expect(replyJson(value)).toBe(JSON.stringify(value));
    expect(replyJson(undefined)).toBe('null');
  });

  it('writes bigints as strings', () => {
    expect(replyJson({ position: 9223372036854775807n, list: [1n] })).toBe(
      '{"position":"9223372036854775807","list":["1"]}',
    );
  });

  it('shows NUL and unpaired surrogates as U+FFFD, in keys too, and leaves escapes in texts alone', () => {
    expect(JSON.parse(replyJson({ 'k\0': 'a\ud800b\udc00', ok: '😀', literal: '\\ud800 \\u0000' }))).toEqual({
      'k\ufffd': 'a\ufffdb\ufffd',
      ok: '😀',
      literal: '\\ud800 \\u0000',
    });
  });

  it('does not hide a cycle', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(() => replyJson(cycle)).toThrow(TypeError);
  });
});
