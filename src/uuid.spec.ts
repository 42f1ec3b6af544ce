import { expect, it } from '@jest/globals';
import { validate, version } from 'uuid';
import { newUuid } from './uuid.js';

it('ids are version 7 and never the same, over many pools of randomness', () => {
  const ids = Array.from({ length: 5_000 }, () => newUuid());
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});
