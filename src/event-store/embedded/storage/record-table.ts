import type { RecordPlace } from './checksum.js';
import { DamagedLogError, recordChecksum } from './checksum.js';
import type { SqlDatabase, SqlStatement } from './database.js';
import type { LogRecord } from './record-pages.js';
import { RecordPages } from './record-pages.js';
import { storedInteger } from './stored-columns.js';

export type { LogRecord } from './record-pages.js';

export interface StreamTail {
  readonly revision: bigint;
  readonly position: bigint;
}

export interface StreamPage {
  readonly direction: 'forwards' | 'backwards';
  readonly limit: number;
  readonly bytes: bigint;
}

/** A position is a byte offset in the log as if each record stood there with a header of this size. */
export const RECORD_HEADER = 16n;
/** Where the first record stands; position 0 belongs to the hidden epoch record of a real node. */
export const FIRST_POSITION = 64n;

const WHOLE = 2n ** 62n;

export function positionAfter(record: LogRecord): bigint {
  return record.position + BigInt(record.bytes.length) + RECORD_HEADER;
}

/** The rows of the log: written once, never changed, each checked against its checksum whenever it is read. */
export class RecordTable {
  private readonly insertRecord: SqlStatement;
  private readonly one: RecordPages;
  private readonly newest: RecordPages;
  private readonly forwards: RecordPages;
  private readonly backwards: RecordPages;
  private readonly streamForwards: RecordPages;
  private readonly streamBackwards: RecordPages;
  private readonly selectStreamTail: SqlStatement;
  private readonly selectPosition: SqlStatement;
  private readonly selectNext: SqlStatement;

  constructor(database: SqlDatabase) {
    this.insertRecord = database.prepare(
      'INSERT INTO records (position, stream, revision, type, created, crc, record) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.one = new RecordPages(database, 'WHERE position = ?');
    this.newest = new RecordPages(database, 'ORDER BY position DESC');
    this.forwards = new RecordPages(database, 'WHERE position >= ? AND position < ? ORDER BY position');
    this.backwards = new RecordPages(database, 'WHERE position < ? AND position >= ? ORDER BY position DESC');
    const range = 'WHERE stream = ? AND revision >= ? AND revision <= ? ORDER BY revision';
    this.streamForwards = new RecordPages(database, range);
    this.streamBackwards = new RecordPages(database, `${range} DESC`);
    this.selectStreamTail = database.prepare(
      'SELECT revision, position FROM records WHERE stream = ? AND position < ? ORDER BY revision DESC LIMIT 1',
    );
    this.selectPosition = database.prepare('SELECT position FROM records WHERE stream = ? AND revision = ?');
    this.selectNext = database.prepare(
      'SELECT position FROM records WHERE position > ? ORDER BY position LIMIT 1',
    );
  }

  insert(place: RecordPlace, bytes: Buffer): void {
    const { position, stream, revision, type, created } = place;
    this.insertRecord.run([position, stream, revision, type, created, recordChecksum(place, bytes), bytes]);
  }

  /** Records from the one at `from` on, in order, that start within `bytes` of it; 1 to `limit`. */
  window(from: bigint, bytes: bigint, limit: number): LogRecord[] {
    const records = this.forwards.read([from, from + bytes], limit, WHOLE);
    if (records.length === 0) throw unreadable(from);
    let expected = from;
    for (const record of records) {
      if (record.position !== expected) throw missing(expected, record.position);
      expected = positionAfter(record);
    }
    return records;
  }

  /** Records that end at or before `end`, newest first, reaching back about `bytes`; 1 to `limit`. */
  windowBackwards(end: bigint, bytes: bigint, limit: number): LogRecord[] {
    for (let reach = bytes; ; reach *= 2n) {
      const start = end > reach ? end - reach : 0n;
      const records = this.backwards.read([end, start], limit, WHOLE);
      if (records.length > 0) return contiguousBackwards(records, end);
      if (start === 0n) throw unreadable(FIRST_POSITION);
    }
  }

  at(position: bigint): LogRecord | undefined {
    return this.one.read([position], 1, WHOLE)[0];
  }

  atRevision(stream: bigint, revision: bigint): LogRecord | undefined {
    return this.streamForwards.read([stream, revision, revision], 1, WHOLE)[0];
  }

  /** Where the stream index says that a revision stands. */
  positionOf(stream: bigint, revision: bigint): bigint | undefined {
    const row = this.selectPosition.first([stream, revision]);
    return row === undefined ? undefined : storedInteger(row, 0, { table: 'records', key: row[0] });
  }

  /**
   * Records of a stream, upwards from revision `from` or downwards from `to`, up to about `bytes` in sum.
   * The stream must hold the whole range: a revision that is missing is damage.
   */
  revisions(stream: bigint, from: bigint, to: bigint, page: StreamPage): LogRecord[] {
    const backwards = page.direction === 'backwards';
    const pages = backwards ? this.streamBackwards : this.streamForwards;
    const records = pages.read([stream, from, to], page.limit, page.bytes);
    if (records.length === 0) throw missingRevision(stream, backwards ? to : from);
    records.forEach((record, index) => {
      const expected = backwards ? to - BigInt(index) : from + BigInt(index);
      if (record.revision !== expected) throw missingRevision(stream, expected);
    });
    return records;
  }

  /** The last event of a stream before a position. */
  streamTail(stream: bigint, end: bigint): StreamTail | undefined {
    const row = this.selectStreamTail.first([stream, end]);
    const place = { table: 'records_by_stream', key: stream };
    return row === undefined
      ? undefined
      : { revision: storedInteger(row, 0, place), position: storedInteger(row, 1, place) };
  }

  /** The first position behind `position`, or undefined at the end. */
  next(position: bigint): bigint | undefined {
    const row = this.selectNext.first([position]);
    return row === undefined ? undefined : storedInteger(row, 0, { table: 'records', key: row[0] });
  }

  last(): LogRecord | undefined {
    return this.newest.read([], 1, WHOLE)[0];
  }
}

function contiguousBackwards(records: LogRecord[], end: bigint): LogRecord[] {
  let expected = end;
  for (const record of records) {
    const next = positionAfter(record);
    if (next !== expected) throw missing(next, expected);
    expected = record.position;
  }
  return records;
}

function missing(expected: bigint, found: bigint): DamagedLogError {
  return new DamagedLogError(`records between positions ${expected} and ${found} are missing`);
}

function unreadable(position: bigint): DamagedLogError {
  return new DamagedLogError(`the record at position ${position} is missing`);
}

function missingRevision(stream: bigint, revision: bigint): DamagedLogError {
  return new DamagedLogError(`revision ${revision} of stream number ${stream} is missing`);
}
