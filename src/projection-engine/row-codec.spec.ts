import { expect, it } from '@jest/globals';
import type { ColumnType, ProjectedRow } from '../../projections/projection.js';
import { fromDatabase, toJsonRow, UnstorableValue } from './row-codec.js';

const columns: Record<string, ColumnType> = {
  position: 'bigint',
  at: 'timestamptz',
  payload: 'json',
  names: 'text[]',
  n: 'integer',
  gone: 'text',
};
const row = {
  position: 9_223_372_036_854_775_807n,
  at: 1_500,
  payload: { n: 1 },
  names: ['a'],
  n: 0,
  gone: null,
};

it('a row leaves as JSON that Postgres reads without loss', () => {
  const json = toJsonRow(Object.keys(columns), columns, row);
  expect(JSON.parse(JSON.stringify(json))).toEqual({
    position: '9223372036854775807',
    at: '1970-01-01T00:00:01.500Z',
    payload: { n: 1 },
    names: ['a'],
    n: 0,
  });
});

it('a row comes back in the types of its projection', () => {
  const stored = { ...row, position: row.position.toString(), at: new Date(row.at), surplus: 1 };
  expect(fromDatabase(columns, stored)).toEqual(row);
});

it.each([Infinity, Number.NaN, 8.64e15 + 1])('a time of %s ms is a fault of the event that gave it', (at) => {
  const storing = (): unknown => toJsonRow(Object.keys(columns), columns, { ...row, at } as ProjectedRow);
  expect(storing).toThrow(UnstorableValue);
});
