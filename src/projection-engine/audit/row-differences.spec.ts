import { describe, expect, it } from '@jest/globals';
import type { ColumnType, ProjectedRow } from '../../../projections/projection.js';
import type { AnyProjection } from '../../../projections/projection-set.js';
import { isSame, selected, shown, toValue } from './column-values.js';
import { rowDifferences } from './row-differences.js';

const columns: Readonly<Record<string, ColumnType>> = {
  id: 'text',
  tags: 'text[]',
  count: 'integer',
  position: 'bigint',
  open: 'boolean',
  at: 'timestamptz',
  data: 'json',
};

const projection = {
  name: 'things',
  table: { name: 'things', columns, primaryKey: ['id'] },
} as unknown as AnyProjection & {
  readonly table: { readonly columns: Record<keyof ProjectedRow, ColumnType> };
};

/** As Postgres gives it for `selected`. */
const stored = {
  id: 'a',
  tags: '["x","y"]',
  count: 3,
  position: '9007199254740993',
  open: true,
  at: '2026-01-02 03:04:05.6+00',
  data: '{"a":[1,{"b":null}],"c":"d"}',
};

const read = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(columns).map(([column, type]) => [column, toValue(type, row[column])]));

describe('how two rows differ', () => {
  it('in nothing when they are alike, whatever the order of the members of JSON', () => {
    expect(rowDifferences(projection, ['a'], read(stored), read(stored))).toEqual([]);
    const turned = { ...stored, data: '{ "c": "d", "a": [1, {"b": null}] }' };
    expect(rowDifferences(projection, ['a'], read(turned), read(stored))).toEqual([]);
  });

  it.each<[string, unknown, unknown, unknown]>([
    ['id', 'b', 'b', 'a'],
    ['tags', '["y","x"]', ['y', 'x'], ['x', 'y']],
    ['tags', '[]', [], ['x', 'y']],
    ['tags', null, null, ['x', 'y']],
    ['count', 4, 4, 3],
    ['position', '9007199254740992', '9007199254740992', '9007199254740993'],
    ['open', false, false, true],
    ['at', '2026-01-02 03:04:05.600001+00', '2026-01-02T03:04:05.600001Z', '2026-01-02T03:04:05.600Z'],
    ['at', 'infinity', 'infinity', '2026-01-02T03:04:05.600Z'],
    ['at', '44033-08-07 22:40:00+00 BC', '44033-08-07 22:40:00+00 BC', '2026-01-02T03:04:05.600Z'],
    ['data', '{"a":[{"b":null},1],"c":"d"}', { a: [{ b: null }, 1], c: 'd' }, JSON.parse(stored.data)],
    [
      'data',
      '{"a":[1,{"b":null}],"c":"d","e":null}',
      { ...JSON.parse(stored.data), e: null },
      JSON.parse(stored.data),
    ],
    ['data', 'null', null, JSON.parse(stored.data)],
  ])('in %s, when it is %j', (field, planted, live, expected) => {
    expect(rowDifferences(projection, ['a'], read({ ...stored, [field]: planted }), read(stored))).toEqual([
      { projection: 'things', key: ['a'], field, live, expected, kind: 'field', rowPosition: null },
    ]);
  });

  it('as a whole where one is missing', () => {
    const row = read(stored);
    expect(rowDifferences(projection, ['a'], undefined, row)).toMatchObject([
      { field: null, live: null, expected: row, kind: 'missing' },
    ]);
    expect(rowDifferences(projection, ['a'], row, undefined)).toMatchObject([
      { field: null, live: row, expected: null, kind: 'invented', rowPosition: 9_007_199_254_740_993n },
    ]);
    expect(rowDifferences(projection, ['a'], undefined, undefined)).toEqual([]);
  });
});

describe('values of columns', () => {
  it('are selected as exactly as they can be', () => {
    expect(Object.entries(columns).map(([column, type]) => selected(column, type))).toEqual([
      'id',
      'array_to_json(tags)::text AS tags',
      'count',
      'position::text AS position',
      'open',
      'at::text AS at',
      'data::text AS data',
    ]);
  });

  it('are cut for a report, between two characters', () => {
    expect(shown('🟡'.repeat(2_000))).toBe('🟡'.repeat(2_000));
    expect(shown('🟡'.repeat(2_001))).toBe(`${'🟡'.repeat(1_999)}…`);
    expect(shown({ text: 'x'.repeat(3_000) })).toBe(`{"text":"${'x'.repeat(1_990)}…`);
    expect([null, true, 7, ['a'], { a: 1 }].map(shown)).toEqual([null, true, 7, ['a'], { a: 1 }]);
  });

  it('tell null in JSON from no JSON only by the column: both read as null', () => {
    expect(isSame(toValue('json', 'null'), toValue('json', null))).toBe(true);
  });
});
