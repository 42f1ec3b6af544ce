import { expect, it } from '@jest/globals';
import { isPoison } from './parking.js';
import { UnstorableValue } from './row-codec.js';

it.each<[unknown, boolean]>([
  [{ code: '22P02' }, true],
  [{ code: '23505' }, true],
  [{ code: '54000' }, true],
  [new UnstorableValue('Infinity is no timestamptz'), true],
  [{ code: '57P01' }, false],
  [{ code: '40001' }, false],
  [{ code: '53100' }, false],
  [{ code: '08006' }, false],
  [{ code: '25P03' }, false],
  [{ code: 'ECONNREFUSED' }, false],
  [{ code: '22' }, false],
  [new Error('x'), false],
  [null, false],
])('%j lies in the data: %s (design 6)', (error, poison) => {
  expect(isPoison(error)).toBe(poison);
});
