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
});
