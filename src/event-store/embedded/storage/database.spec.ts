import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SqlValue } from './database.js';
import { SqlDatabase, blobColumn, errorCode, integerColumn } from './database.js';

let database: SqlDatabase;
beforeEach(() => {
  database = new SqlDatabase(':memory:');
  database.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, name BLOB)');
});
afterEach(() => database.close());

/** What the types forbid and a mistake can still pass: each of these harms the native binding. */
const foreign = (value: unknown): SqlValue => value as SqlValue;

describe('a value that the storage engine does not know', () => {
  it.each([
    ['true', true],
    ['undefined', undefined],
    ['an object', {}],
    ['an array', [1n]],
    ['a function', () => 1n],
    ['a symbol', Symbol('x')],
    ['a date', new Date(0)],
    ['a typed array', new Float64Array(2)],
    ['a plain Uint8Array', new Uint8Array(2)],
    ['an ArrayBuffer', new ArrayBuffer(2)],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a fraction', 1.5],
    ['a number beyond 2^53', 2 ** 60],
    ['an integer of more than 64 bits', 2n ** 63n],
    ['text with NUL', 'a\0b'],
  ])('is refused before it gets there: %s', (_name, value) => {
    const statement = database.prepare('INSERT INTO things (id, name) VALUES (?, ?)');
    expect(() => statement.run([1n, foreign(value)])).toThrow(/SQL|cannot be bound/);
    expect(database.prepare('SELECT id FROM things').all([])).toEqual([]);
  });

  it.each([
    ['a Buffer instead of the array', Buffer.from('x')],
    ['an object instead of the array', {}],
    ['nothing', undefined],
    ['too few values', [1n]],
    ['too many values', [1n, null, 2n]],
  ])('is refused as a list of values: %s', (_name, values) => {
    const statement = database.prepare('INSERT INTO things (id, name) VALUES (?, ?)');
    expect(() => statement.run(values as SqlValue[])).toThrow('exactly 2 values');
  });

  it('is refused in the hole of a sparse array', () => {
    const sparse: SqlValue[] = [1n];
    sparse.length = 2;
    expect(() => database.prepare('INSERT INTO things (id, name) VALUES (?, ?)').run(sparse)).toThrow(
      TypeError,
    );
  });
});

describe('values', () => {
  const roundTrip = (value: SqlValue) => database.prepare('SELECT ?').first([value])?.[0];

  it.each([0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'keep every bit of the integer %s',
    (value) => {
      expect(roundTrip(value)).toBe(value);
    },
  );

  it('keep the bytes of a Buffer that is part of a larger one', () => {
    const part = Buffer.from('0123456789').subarray(3, 6);
    const row = database.prepare('SELECT ?').first([part]);
    expect(row === undefined ? '' : blobColumn(row, 0).toString()).toBe('345');
  });

  it('keep an empty Buffer and one with NUL', () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('a\0b')]) {
      const row = database.prepare('SELECT ?').first([bytes]);
      expect(row === undefined ? undefined : [...blobColumn(row, 0)]).toEqual([...bytes]);
    }
  });

  it('are told apart when read', () => {
    const row = database.prepare("SELECT 1, x'00', NULL").first([]) ?? [];
    expect(integerColumn(row, 0)).toBe(1n);
    expect(() => integerColumn(row, 1)).toThrow('column 1 is not an integer');
    expect(() => blobColumn(row, 2)).toThrow('column 2 is not a BLOB');
  });
});

describe('a statement', () => {
  it('takes new values after it has answered many rows', () => {
    const insert = database.prepare('INSERT INTO things (id, name) VALUES (?, NULL)');
    for (let id = 1n; id <= 200n; id += 1n) insert.run([id]);
    const select = database.prepare('SELECT id FROM things WHERE id >= ? ORDER BY id LIMIT ?');
    expect(select.all([1n, 150n])).toHaveLength(150);
    expect(select.first([77n, 5n])).toEqual([77n]);
    expect(select.first([78n, 5n])).toEqual([78n]);
    expect(select.all([199n, 5n])).toEqual([[199n], [200n]]);
  });

  it('goes on after it has failed', () => {
    const insert = database.prepare('INSERT INTO things (id, name) VALUES (?, NULL)');
    insert.run([1n]);
    expect(() => insert.run([1n])).toThrow();
    insert.run([2n]);
    expect(database.prepare('SELECT count(*) FROM things').first([])).toEqual([2n]);
  });
});

describe('a transaction', () => {
  it('leaves nothing of itself when it throws', () => {
    const insert = database.prepare('INSERT INTO things (id, name) VALUES (?, NULL)');
    const work = () => {
      insert.run([1n]);
      throw new Error('no');
    };
    expect(() => database.transaction(work)).toThrow('no');
    expect(database.prepare('SELECT count(*) FROM things').first([])).toEqual([0n]);
    expect(database.transaction(() => 'again')).toBe('again');
  });
});

describe('an error of the storage engine', () => {
  it('carries its code', () => {
    let code: string | undefined;
    try {
      database.exec('SELECT * FROM nothing');
    } catch (error) {
      code = errorCode(error);
    }
    expect(code).toBe('SQLITE_ERROR');
    expect(errorCode(undefined)).toBeUndefined();
  });
});
