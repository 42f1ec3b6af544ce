import type { SqlDatabase, SqlRow, SqlStatement } from './database.js';
import { blobColumn, integerColumn } from './database.js';
import type { RecordPlace } from './checksum.js';
import { DamagedLogError, recordChecksum } from './checksum.js';

/** One stored event: its place and the encoded RecordedEvent. */
export interface LogRecord extends RecordPlace {
  readonly bytes: Buffer;
}

/** A record seen without its bytes, enough to decide whether a filter wants it. */
export interface LogEntry {
  readonly position: bigint;
  readonly stream: bigint;
  readonly type: bigint;
  readonly next: bigint;
}

export interface StreamTail {
  readonly revision: bigint;
  readonly position: bigint;
}

/** A position is a byte offset in the log as if each record stood there with a header of this size. */
export const RECORD_HEADER = 16n;
/** Where the first record stands; position 0 belongs to the hidden epoch record of a real node. */
export const FIRST_POSITION = 64n;

const COLUMNS = 'position, stream, revision, type, created, crc, record';

export function positionAfter(record: LogRecord): bigint {
  return record.position + BigInt(record.bytes.length) + RECORD_HEADER;
}

/** The rows of the log: written once, never changed, each checked against its checksum whenever it is read. */
export class RecordTable {
  private readonly insertRecord: SqlStatement;
  private readonly selectWindow: SqlStatement;
  private readonly selectWindowBackwards: SqlStatement;
  private readonly selectEntries: SqlStatement;
  private readonly selectOne: SqlStatement;
  private readonly selectRevisions: SqlStatement;
  private readonly selectRevisionsBackwards: SqlStatement;
  private readonly selectSizes: SqlStatement;
  private readonly selectSizesBackwards: SqlStatement;
  private readonly selectStreamTail: SqlStatement;
  private readonly selectPosition: SqlStatement;
  private readonly selectNext: SqlStatement;
  private readonly selectLast: SqlStatement;

  constructor(database: SqlDatabase) {
    const select = `SELECT ${COLUMNS} FROM records`;
    this.insertRecord = database.prepare(`INSERT INTO records (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.selectWindow = database.prepare(
      `${select} WHERE position >= ? AND position < ? ORDER BY position LIMIT ?`,
    );
    this.selectWindowBackwards = database.prepare(
      `${select} WHERE position < ? AND position >= ? ORDER BY position DESC LIMIT ?`,
    );
    this.selectEntries = database.prepare(
      'SELECT position, stream, type, length(record) FROM records WHERE position >= ? ORDER BY position LIMIT ?',
    );
    this.selectOne = database.prepare(`${select} WHERE position = ?`);
    const range = 'WHERE stream = ? AND revision >= ? AND revision <= ? ORDER BY revision';
    this.selectRevisions = database.prepare(`${select} ${range} LIMIT ?`);
    this.selectRevisionsBackwards = database.prepare(`${select} ${range} DESC LIMIT ?`);
    this.selectSizes = database.prepare(`SELECT length(record) FROM records ${range} LIMIT ?`);
    this.selectSizesBackwards = database.prepare(`SELECT length(record) FROM records ${range} DESC LIMIT ?`);
    this.selectStreamTail = database.prepare(
      'SELECT revision, position FROM records WHERE stream = ? ORDER BY revision DESC LIMIT 1',
    );
    this.selectPosition = database.prepare('SELECT position FROM records WHERE stream = ? AND revision = ?');
    this.selectNext = database.prepare(
      'SELECT position FROM records WHERE position > ? ORDER BY position LIMIT 1',
    );
    this.selectLast = database.prepare(`${select} ORDER BY position DESC LIMIT 1`);
  }

  insert(place: RecordPlace, bytes: Buffer): void {
    const { position, stream, revision, type, created } = place;
    this.insertRecord.run([position, stream, revision, type, created, recordChecksum(place, bytes), bytes]);
  }

  /** Records from the one at `from` on, in order, that start within `bytes` of it; 1 to `limit`. */
  window(from: bigint, bytes: bigint, limit: number): LogRecord[] {
    const records = this.selectWindow.all([from, from + bytes, limit]).map(toRecord);
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
      const records = this.selectWindowBackwards.all([end, start, limit]).map(toRecord);
      if (records.length > 0) return contiguousBackwards(records, end);
      if (start === 0n) throw unreadable(FIRST_POSITION);
    }
  }

  /** Entries from the one at `from` on; 1 to `limit`. */
  entries(from: bigint, limit: number): LogEntry[] {
    let expected = from;
    const rows = this.selectEntries.all([from, limit]);
    if (rows.length === 0) throw unreadable(from);
    return rows.map((row) => {
      const position = integerColumn(row, 0);
      if (position !== expected) throw missing(expected, position);
      expected = position + integerColumn(row, 3) + RECORD_HEADER;
      return { position, stream: integerColumn(row, 1), type: integerColumn(row, 2), next: expected };
    });
  }

  at(position: bigint): LogRecord | undefined {
    const row = this.selectOne.first([position]);
    return row === undefined ? undefined : toRecord(row);
  }

  /** Like `at`, for a position that is known to hold a record. */
  get(position: bigint): LogRecord {
    const record = this.at(position);
    if (record === undefined) throw unreadable(position);
    return record;
  }

  atRevision(stream: bigint, revision: bigint): LogRecord | undefined {
    const row = this.selectRevisions.first([stream, revision, revision, 1]);
    return row === undefined ? undefined : toRecord(row);
  }

  /** Where the stream index says that a revision stands. */
  positionOf(stream: bigint, revision: bigint): bigint | undefined {
    const row = this.selectPosition.first([stream, revision]);
    return row === undefined ? undefined : integerColumn(row, 0);
  }

  /**
   * Records of a stream, upwards from revision `from` or downwards from `to`, up to about `bytes` in sum.
   * The stream must hold the whole range: a revision that is missing is damage.
   */
  revisions(stream: bigint, from: bigint, to: bigint, page: StreamPage): LogRecord[] {
    const backwards = page.direction === 'backwards';
    const sizes = (backwards ? this.selectSizesBackwards : this.selectSizes).all([
      stream,
      from,
      to,
      page.limit,
    ]);
    let fitting = 0;
    for (let sum = 0n; fitting < sizes.length && sum < page.bytes; fitting += 1) {
      const size = sizes[fitting];
      if (size !== undefined) sum += integerColumn(size, 0);
    }
    const select = backwards ? this.selectRevisionsBackwards : this.selectRevisions;
    const records = select.all([stream, from, to, fitting]).map(toRecord);
    if (records.length === 0) throw missingRevision(stream, backwards ? to : from);
    records.forEach((record, index) => {
      const expected = backwards ? to - BigInt(index) : from + BigInt(index);
      if (record.revision !== expected) throw missingRevision(stream, expected);
    });
    return records;
  }

  streamTail(stream: bigint): StreamTail | undefined {
    const row = this.selectStreamTail.first([stream]);
    return row === undefined
      ? undefined
      : { revision: integerColumn(row, 0), position: integerColumn(row, 1) };
  }

  /** The first position behind `position`, or undefined at the end. */
  next(position: bigint): bigint | undefined {
    const row = this.selectNext.first([position]);
    return row === undefined ? undefined : integerColumn(row, 0);
  }

  last(): LogRecord | undefined {
    const row = this.selectLast.first([]);
    return row === undefined ? undefined : toRecord(row);
  }
}

export interface StreamPage {
  readonly direction: 'forwards' | 'backwards';
  readonly limit: number;
  readonly bytes: bigint;
}

function toRecord(row: SqlRow): LogRecord {
  const record = {
    position: integerColumn(row, 0),
    stream: integerColumn(row, 1),
    revision: integerColumn(row, 2),
    type: integerColumn(row, 3),
    created: integerColumn(row, 4),
    bytes: blobColumn(row, 6),
  };
  if (BigInt(recordChecksum(record, record.bytes)) !== integerColumn(row, 5)) {
    throw new DamagedLogError(`the record at position ${record.position} does not match its checksum`);
  }
  return record;
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
