import { describe, expect, it } from '@jest/globals';
import { createContentCheck } from './content-check.js';

const check = createContentCheck();
const schema = {
  $id: 'https://example.org/same',
  type: 'object',
  properties: { name: { type: 'string', minLength: 1 }, mail: { type: 'string', format: 'email' } },
  required: ['name'],
};

describe('content against a requested schema', () => {
  it.each<[object, readonly string[] | null]>([
    [{ name: 'x' }, null],
    [{ name: 'x', extra: 1 }, null],
    [{}, ['name']],
    [{ name: 7 }, ['name']],
    [{ name: 'x', mail: 'not one' }, ['mail']],
  ])('%j has its fault at %j', (content, path) => {
    expect(check(schema, { ...content })?.path ?? null).toEqual(path);
  });

  it('names a property whose name holds a slash or a tilde', () => {
    const odd = { type: 'object', properties: { 'a/b~c': { type: 'string' } } };
    expect(check(odd, { 'a/b~c': 1 })).toMatchObject({ path: ['a/b~c'] });
  });

  it('lets two schemas share an $id without mixing them up', () => {
    expect(check({ ...schema, required: ['mail'] }, { name: 'x' })?.path).toEqual(['mail']);
    expect(check(schema, { name: 'x' })).toBeNull();
  });

  it.each<object>([
    { type: 'nonsense' },
    { $ref: 'https://example.org/else' },
    { $async: true, type: 'object' },
  ])('asks for nothing when %j is no usable schema', (unusable) => {
    expect(check(unusable, { any: 1 })).toBeNull();
  });

  it('asks no more of a pattern than can be matched in linear time, and the rest of its schema still', () => {
    const ahead = {
      type: 'object',
      properties: {
        a: { type: 'string', pattern: '^(?=.*[A-Z]).+$' },
        b: { type: 'string', pattern: '^b+$' },
      },
      required: ['b'],
    };
    expect(check(ahead, { a: 'no capital', b: 'bb' })).toBeNull();
    expect(check(ahead, { a: 7, b: 'bb' })?.path).toEqual(['a']);
    expect(check(ahead, { b: 'c' })?.path).toEqual(['b']);
  });

  it('keeps the patterns of one schema apart', () => {
    const two = { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } };
    expect(check(two, { a: 'a', b: 'b' })).toBeNull();
    expect(check(two, { a: 'b', b: 'b' })?.path).toEqual(['a']);
    expect(check(two, { a: 'a', b: 'a' })?.path).toEqual(['b']);
  });

  it.each(['^\\p{L}+$', '^[\\u00e0-\\u00ff]+$', '^\\S+$', '^.{2}$'])('matches the pattern %s', (pattern) => {
    const one = { type: 'object', properties: { a: { type: 'string', pattern } } };
    expect(check(one, { a: 'äö' })).toBeNull();
    expect(check(one, { a: ' 1 ' })?.path).toEqual(['a']);
  });
});

describe('a hostile schema', () => {
  const text = `${'a'.repeat(50)}!`;
  const withPattern = (pattern: string, title: string): object => ({
    title,
    type: 'object',
    properties: { a: { type: 'string', pattern } },
  });

  function took(work: () => void): number {
    const begin = performance.now();
    work();
    return performance.now() - begin;
  }

  it('does not take its time by a pattern that backtracks', () => {
    const rounds = (pattern: string): number =>
      Math.min(
        ...[1, 2, 3].map((round) =>
          took(() => expect(check(withPattern(pattern, `${round}`), { a: text })?.path).toEqual(['a'])),
        ),
      );
    const benign = rounds('^a+$');
    // With an engine that backtracks it is 2^50 steps: no machine is there at the end of this ratio.
    expect(rounds('^(a+)+$')).toBeLessThan(20 * benign + 20);
  });

  const doubling = Object.fromEntries(
    Array.from({ length: 60 }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, { allOf: [next, next] }];
    }),
  );
  const deep = Array.from({ length: 3_000 }).reduce<object>((inner) => ({ not: inner }), { type: 'null' });

  it.each<[string, object]>([
    ['refers to itself without end', { allOf: [{ $ref: '#' }] }],
    ['doubles its work sixty times', { $ref: '#/$defs/d0', $defs: { ...doubling, d60: { type: 'object' } } }],
    ['is nested too deeply to be compiled', deep],
  ])('that %s asks for nothing, twice', (_, schema) => {
    expect(check(schema, { any: 1 })).toBeNull();
    // What was found out once is not tried again.
    expect(took(() => expect(check(schema, { any: 1 })).toBeNull())).toBeLessThan(250);
  });

  it('with a huge enum is still checked', () => {
    const huge = { type: 'object', properties: { a: { enum: Array.from({ length: 8_000 }, (_, n) => n) } } };
    expect(check(huge, { a: 7_999 })).toBeNull();
    expect(check(huge, { a: 8_000 })?.path).toEqual(['a']);
  });

  it('leaves the next one unharmed', () => {
    expect(check(schema, {})?.path).toEqual(['name']);
  });
});
