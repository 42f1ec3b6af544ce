import { describe, expect, it } from '@jest/globals';
import type { ProjectedRow, TableDefinition } from '../../projections/projection.js';
import { RowBuffer } from './row-buffer.js';

interface Row extends ProjectedRow {
  readonly a: string;
  readonly b: string;
  readonly n: number;
}

const table = (insertOnly: boolean): TableDefinition<ProjectedRow> => {
  const definition: TableDefinition<Row> = {
    name: 't',
    columns: { a: 'text', b: 'text', n: 'integer', position: 'bigint' },
    primaryKey: ['a', 'b'],
    guards: ['position'],
    indexes: [],
    hot: [],
    insertOnly,
  };
  return definition as unknown as TableDefinition<ProjectedRow>;
};
const row = (n: number, position: bigint, b = 'b', a = 'a'): Row => ({ a, b, n, position });

describe('the rows that a batch touches', () => {
  it('are written once, as they are in the end', () => {
    const buffer = new RowBuffer(table(false));
    buffer.put(row(1, 1n));
    buffer.put(row(2, 2n));
    expect(buffer.written()).toEqual([row(2, 2n)]);
    expect(buffer.removed()).toEqual([]);
  });

  it('stay as they are for an event at or before their own position', () => {
    const buffer = new RowBuffer(table(false));
    buffer.load(row(7, 5n));
    buffer.put(row(1, 5n));
    buffer.put(row(2, 4n));
    expect(buffer.get(['a', 'b'])).toEqual(row(7, 5n));
    expect(buffer.written()).toEqual([]);
  });

  it('made of two streams take an older event of the one that came later', () => {
    const guarded = {
      ...table(false),
      guards: ['n', 'position'],
    } as unknown as TableDefinition<ProjectedRow>;
    const made = (ofOne: bigint | null, ofOther: bigint | null): ProjectedRow =>
      ({ a: 'a', b: 'b', n: ofOne, position: ofOther }) as unknown as ProjectedRow;
    const buffer = new RowBuffer(guarded);
    buffer.load(made(null, 5n));
    buffer.put(made(null, 4n));
    expect(buffer.written()).toEqual([]);
    buffer.put(made(2n, 5n));
    expect(buffer.written()).toEqual([made(2n, 5n)]);
    buffer.put(made(1n, 5n));
    expect(buffer.written()).toEqual([made(2n, 5n)]);
  });

  it('that were loaded and not changed are not written', () => {
    const buffer = new RowBuffer(table(false));
    buffer.load(row(1, 1n));
    buffer.load(row(1, 1n, 'c'));
    buffer.put(row(2, 2n, 'c'));
    expect(buffer.written()).toEqual([row(2, 2n, 'c')]);
  });

  it('may be removed, and come back', () => {
    const buffer = new RowBuffer(table(false));
    buffer.load(row(1, 1n));
    buffer.remove(['a', 'b']);
    expect(buffer.get(['a', 'b'])).toBeUndefined();
    expect(buffer.removed()).toEqual([['a', 'b']]);
    buffer.put(row(2, 2n));
    expect(buffer.removed()).toEqual([]);
    expect(buffer.written()).toEqual([row(2, 2n)]);
  });

  it('of a table that is only inserted into: the first in the log stands, even if it comes last', () => {
    const buffer = new RowBuffer(table(true));
    buffer.put(row(1, 1n));
    buffer.put(row(2, 2n));
    expect(buffer.written()).toEqual([row(1, 1n)]);
    buffer.put(row(0, 0n));
    expect(buffer.written()).toEqual([row(0, 0n)]);
  });

  it('keep keys apart whose parts would run into each other', () => {
    const buffer = new RowBuffer(table(false));
    buffer.put(row(1, 1n, 'z', 'x","y'));
    buffer.put(row(2, 1n, 'y","z', 'x'));
    buffer.put(row(3, 1n, 'z', 'x\u0000y'));
    buffer.put(row(4, 1n, 'y\u0000z', 'x'));
    expect(buffer.written()).toHaveLength(4);
  });
});
