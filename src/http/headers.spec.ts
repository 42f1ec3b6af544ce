import { ApiError, DetailError } from './errors.js';
import { parseIdempotencyKey, parseIfMatch, parseMinPosition, prefersAsync } from './headers.js';
import { setReplyHeaders } from './reply-headers.js';

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('Idempotency-Key', () => {
  it('is 1 to 255 visible ASCII characters', () => {
    expect(parseIdempotencyKey(undefined)).toBeNull();
    expect(parseIdempotencyKey('a')).toBe('a');
    expect(parseIdempotencyKey('~'.repeat(255))).toHaveLength(255);
  });

  it.each(['', ' ', 'a b', 'ä', 'a'.repeat(256), ['a', 'b']])(
    'refuses %j with 422 on the header',
    (value) => {
      const error = thrownBy(() => parseIdempotencyKey(value));
      expect(error).toBeInstanceOf(DetailError);
      expect(error).toMatchObject({ status: 422, detail: [{ loc: ['header', 'idempotency-key'] }] });
    },
  );
});

describe('Rollcall-Min-Position', () => {
  it('is a position', () => {
    expect(parseMinPosition(undefined)).toBeNull();
    expect(parseMinPosition('42')).toBe(42n);
  });

  it.each(['', 'x', '01', '1, 2', '9223372036854775808'])('refuses %j with 400', (value) => {
    expect(thrownBy(() => parseMinPosition(value))).toMatchObject({ code: 'invalid_input' });
  });
});

describe('Prefer', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['respond-async', true],
    ['Respond-Async;x=1, wait=10', true],
    ['return=minimal, respond-async', true],
    ['respond-asynchronously', false],
  ])('%j: %s', (value, expected) => {
    expect(prefersAsync(value)).toBe(expected);
  });
});

describe('If-Match', () => {
  it('is any version or one position', () => {
    expect(parseIfMatch(undefined)).toBeNull();
    expect(parseIfMatch('*')).toBe('*');
    expect(parseIfMatch(' "17" ')).toBe(17n);
  });

  it.each(['', '17', 'W/"17"', '"17", "18"', '"x"', '""', '"017"'])('refuses %j with 400', (value) => {
    const error = thrownBy(() => parseIfMatch(value));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'invalid_input' });
  });
});

describe('headers of the answer', () => {
  it('say only what is known', () => {
    const written = new Map<string, string>();
    const reply = { header: (name: string, value: string) => written.set(name, value) };
    setReplyHeaders(reply, { projected: true });
    expect(written.size).toBe(0);

    setReplyHeaders(reply, {
      position: 12n,
      projected: false,
      idempotencyReplayed: true,
      respondedAsync: true,
      etag: 7n,
      noStore: true,
    });
    expect(Object.fromEntries(written)).toEqual({
      'rollcall-position': '12',
      'rollcall-projected': 'false',
      'idempotency-replayed': 'true',
      'preference-applied': 'respond-async',
      etag: '"7"',
      'cache-control': 'no-store',
    });
  });
});
