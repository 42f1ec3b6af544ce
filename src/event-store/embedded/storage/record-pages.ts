import type { RecordPlace } from './checksum.js';
import { DamagedLogError, recordChecksum } from './checksum.js';
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './database.js';
import type { StoredRow } from './stored-columns.js';
import { storedBlob, storedInteger } from './stored-columns.js';

/** One stored event: its place and the encoded RecordedEvent. */
export interface LogRecord extends RecordPlace {
  readonly bytes: Buffer;
}

const PLACE_COLUMNS = 'position, stream, revision, type, created, crc';

/**
 * Reads runs of records, each checked against its checksum. All bytes of a run come as one BLOB and are cut here:
 * the binding takes longer for a BLOB than for all other columns of a row together.
 */
export class RecordPages {
  private readonly places: SqlStatement;
  private readonly bytes: SqlStatement;

  /** `which` is a WHERE and an ORDER BY clause. */
  constructor(database: SqlDatabase, which: string) {
    this.places = database.prepare(`SELECT ${PLACE_COLUMNS}, length(record) FROM records ${which} LIMIT ?`);
    // Without the inner LIMIT its order would not be binding. The casts change no byte, NUL or not UTF-8.
    this.bytes = database.prepare(
      `SELECT CAST(group_concat(record, '') AS BLOB) FROM (SELECT record FROM records ${which} LIMIT ?)`,
    );
  }

  /** At most `limit` records, and none behind the one with which they reach `bytes` in sum. */
  read(values: readonly SqlValue[], limit: number, bytes: bigint): LogRecord[] {
    const places = this.places.all([...values, limit]);
    const fitting = places.slice(0, countFitting(places, bytes));
    if (fitting.length === 0) return [];
    const row = this.bytes.first([...values, fitting.length]);
    return row === undefined ? [] : cut(storedBlob(row, 0, placeOf(fitting[0])), fitting);
  }
}

function countFitting(places: readonly SqlRow[], bytes: bigint): number {
  let sum = 0n;
  let fitting = 0;
  for (const place of places) {
    if (sum >= bytes) break;
    sum += storedInteger(place, 6, placeOf(place));
    fitting += 1;
  }
  return fitting;
}

function cut(page: Buffer, rows: readonly SqlRow[]): LogRecord[] {
  let at = 0;
  return rows.map((row) => {
    const begin = at;
    at += Number(storedInteger(row, 6, placeOf(row)));
    return checkedRecord(row, page.subarray(begin, at));
  });
}

function placeOf(row: SqlRow | undefined): StoredRow {
  return { table: 'records', key: row?.[0] };
}

function checkedRecord(row: SqlRow, bytes: Buffer): LogRecord {
  const place = placeOf(row);
  const record = {
    position: storedInteger(row, 0, place),
    stream: storedInteger(row, 1, place),
    revision: storedInteger(row, 2, place),
    type: storedInteger(row, 3, place),
    created: storedInteger(row, 4, place),
    bytes,
  };
  if (BigInt(recordChecksum(record, bytes)) !== storedInteger(row, 5, place)) {
    throw new DamagedLogError(`the record at position ${record.position} does not match its checksum`);
  }
  return record;
}
