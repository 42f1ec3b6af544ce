import { DamagedLogError } from './checksum.js';
import type { SqlRow } from './database.js';
import { blobColumn, integerColumn } from './database.js';

/** Where a row lies, for whoever has to look at it. */
export interface StoredRow {
  readonly table: string;
  readonly key: unknown;
}

/** A column as it was written. A value of another type is damage, and its place is named. */
export function storedInteger(row: SqlRow, column: number, { table, key }: StoredRow): bigint {
  try {
    return integerColumn(row, column);
  } catch (error) {
    throw otherType(error, table, key);
  }
}

export function storedBlob(row: SqlRow, column: number, { table, key }: StoredRow): Buffer {
  try {
    return blobColumn(row, column);
  } catch (error) {
    throw otherType(error, table, key);
  }
}

function otherType(error: unknown, table: string, key: unknown): DamagedLogError {
  return new DamagedLogError(`${table} row ${String(key)}: ${error instanceof Error ? error.message : ''}`);
}
