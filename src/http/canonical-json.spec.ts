import { bodyHash, canonicalJson } from './canonical-json.js';

describe('canonical JSON', () => {
  it('sorts keys at every depth and keeps the order of lists', () => {
    expect(canonicalJson({ b: [2, 1, { d: null, c: 'x' }], a: true })).toBe(
      '{"a":true,"b":[2,1,{"c":"x","d":null}]}',
    );
  });

  it('leaves out undefined members and writes bigints as strings', () => {
    expect(canonicalJson({ a: undefined, b: 10n, c: [undefined] })).toBe('{"b":"10","c":[null]}');
  });

  it('keeps an own __proto__ key', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1}}');
  });

  it('gives one hash whatever the order of the keys, and another for another body', () => {
    expect(bodyHash({ a: 1, b: 2 })).toBe(bodyHash({ b: 2, a: 1 }));
    expect(bodyHash({ a: 1 })).toMatch(/^[0-9a-f]{64}$/);
    expect(bodyHash({ a: '1' })).not.toBe(bodyHash({ a: 1 }));
    expect(bodyHash({ a: '\ud800' })).not.toBe(bodyHash({ a: '\ud801' }));
  });
});
