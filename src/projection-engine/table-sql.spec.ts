import { describe, expect, it } from '@jest/globals';
import { Type } from '@sinclair/typebox';
import { eventType } from '../event-store/event-type.js';
import { projectionSet } from '../../projections/projection-set.js';
import type { AnyProjection } from '../../projections/projection-set.js';
import { schemaOf, setVersionOf } from './set-version.js';
import { tableSql } from './table-sql.js';

const [model] = projectionSet;
const none = new Set<string>();
const types = [eventType('Happened', 1, Type.Object({}))];
const thing = {
  ...model,
  name: 'things',
  table: {
    name: 'things',
    columns: { a: 'text', b: 'text', payload: 'json', position: 'bigint' },
    primaryKey: ['a', 'b'],
    guards: ['position'],
    indexes: ['(position) WHERE b IS NULL'],
    hot: ['position'],
    insertOnly: false,
  },
} as unknown as AnyProjection;

describe('the statements of a read model', () => {
  const sql = tableSql('s', thing);

  it('make the table with its key and indexes', () => {
    expect(sql.create).toEqual([
      'CREATE TABLE s.things (a text, b text, payload json, position bigint, PRIMARY KEY (a, b))',
      'CREATE INDEX ON s.things (position) WHERE b IS NULL',
    ]);
  });

  it('load and remove by arrays of keys', () => {
    expect(sql.load).toBe(
      'SELECT t.* FROM unnest($1::text[], $2::text[]) AS k(a, b) JOIN s.things t ON t.a = k.a AND t.b = k.b',
    );
    expect(sql.remove(['$4', '$5'])).toBe(
      'DELETE FROM s.things t USING fence, unnest($4::text[], $5::text[]) AS k(a, b) WHERE t.a = k.a AND t.b = k.b',
    );
  });

  it('write every column, and never over a newer row', () => {
    expect(sql.write('$4')).toBe(
      'INSERT INTO s.things AS t (a, b, payload, position) SELECT r.a, r.b, r.payload, r.position' +
        ' FROM fence, json_to_recordset($4::json) AS r(a text, b text, payload json, position bigint)' +
        ' ON CONFLICT (a, b) DO UPDATE SET payload = excluded.payload, position = excluded.position' +
        ' WHERE coalesce(t.position, -1) < coalesce(excluded.position, -1)',
    );
  });

  it('touch hot columns alone, and never over a newer row', () => {
    expect(sql.touch('$4')).toBe(
      'UPDATE s.things t SET position = k.position' +
        ' FROM fence, json_to_recordset($4::json) AS k(a text, b text, position bigint)' +
        ' WHERE t.a = k.a AND t.b = k.b AND coalesce(t.position, -1) < coalesce(k.position, -1)',
    );
  });

  it('write a row of two streams when either of them has something newer', () => {
    const guards = { ...thing, table: { ...thing.table, guards: ['x', 'y'] } } as unknown as AnyProjection;
    expect(tableSql('s', guards).write('$4')).toMatch(
      / WHERE \(coalesce\(t\.x, -1\) < coalesce\(excluded\.x, -1\) OR coalesce\(t\.y, -1\) < coalesce\(excluded\.y, -1\)\)$/,
    );
  });

  it('let only an earlier row replace one where rows are only inserted', () => {
    const insertOnly = { ...thing, table: { ...thing.table, insertOnly: true } };
    expect(tableSql('s', insertOnly).write('$4')).toMatch(/ WHERE excluded\.position < t\.position$/);
  });
});

describe('the version of a set', () => {
  it('is the same for the same projections, another for any change of one', () => {
    expect(setVersionOf([thing], types, none)).toBe(setVersionOf([{ ...thing }], types, none));
    expect(setVersionOf([thing], types, none)).not.toBe(setVersionOf([thing], [], none));
    expect(setVersionOf([thing], types, none)).not.toBe(setVersionOf([thing], types, new Set(['Past'])));
    const others = [
      { ...thing, version: thing.version + 1 },
      { ...thing, table: { ...thing.table, indexes: [] } },
      { ...thing, name: 'other' },
    ];
    expect(new Set([thing, ...others].map((one) => setVersionOf([one], types, none))).size).toBe(4);
    expect(schemaOf(setVersionOf([thing], types, none))).toMatch(/^rollcall_set_[0-9a-f]{10}$/);
  });
});
