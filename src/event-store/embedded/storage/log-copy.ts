import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { SqlDatabase, blobColumn, integerColumn } from './database.js';
import type { EventLog } from './event-log.js';
import type { LogRecord } from './record-table.js';
import { FIRST_POSITION, RecordTable, positionAfter } from './record-table.js';
import { prepareSchema } from './schema.js';
import { syncDirectory } from './sync-directory.js';

const SLICE_BYTES = 256n * 1024n;
const SLICE_RECORDS = 500;
const NAMES_A_SLICE = 1_000;

export interface LogCopy {
  readonly events: bigint;
  /** The position of the last event in the copy; 0 when there is none. */
  readonly position: bigint;
}

/**
 * Copies the log as it is now into a new file, in slices, so that appends and readers go on between them.
 * What is written later is not in it. Each record is checked on the way. The file appears under its name only
 * when it is whole and on disk. Throws when it exists already.
 */
export async function copyLog(log: EventLog, file: string): Promise<LogCopy> {
  if (existsSync(file)) throw new Error(`${file} exists already`);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    const copy = await writeCopy(log, partial);
    checkCopy(partial, copy);
    renameSync(partial, file);
    syncDirectory(dirname(file));
    return copy;
  } catch (error) {
    for (const part of ['', '-wal', '-journal']) rmSync(`${partial}${part}`, { force: true });
    throw error;
  }
}

async function writeCopy(log: EventLog, file: string): Promise<LogCopy> {
  const target = new SqlDatabase(file);
  try {
    prepareSchema(target);
    const end = log.head;
    await copyNames(log, target, 'streams', log.streams.lastId());
    await copyNames(log, target, 'event_types', log.types.lastId());
    const copy = await copyRecords(log, target, end);
    target.closeWhole();
    return copy;
  } catch (error) {
    target.close();
    throw error;
  }
}

async function copyNames(
  log: EventLog,
  target: SqlDatabase,
  table: 'streams' | 'event_types',
  last: bigint,
): Promise<void> {
  const select = log.database.prepare(
    `SELECT id, name, crc FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
  );
  const insert = target.prepare(`INSERT INTO ${table} (id, name, crc) VALUES (?, ?, ?)`);
  for (let after = 0n; after < last;) {
    const rows = select.all([after, last, NAMES_A_SLICE]);
    target.transaction(() => {
      for (const row of rows) {
        after = integerColumn(row, 0);
        insert.run([after, blobColumn(row, 1), integerColumn(row, 2)]);
      }
    });
    if (rows.length === 0) return;
    await setImmediate();
  }
}

async function copyRecords(log: EventLog, target: SqlDatabase, end: bigint): Promise<LogCopy> {
  const table = new RecordTable(target);
  let events = 0n;
  let position = 0n;
  for (let next = FIRST_POSITION; next < end;) {
    const slice = log.records
      .window(next, SLICE_BYTES, SLICE_RECORDS)
      .filter((record) => record.position < end);
    target.transaction(() => slice.forEach((record: LogRecord) => table.insert(record, record.bytes)));
    for (const last of slice.slice(-1)) {
      position = last.position;
      next = positionAfter(last);
    }
    events += BigInt(slice.length);
    await setImmediate();
  }
  return { events, position };
}

/** Opens the copy as a restore would, and looks at its end. Throws when it holds less than was written to it. */
function checkCopy(file: string, copy: LogCopy): void {
  const database = new SqlDatabase(file);
  try {
    const pages = storedNumber(database, 'PRAGMA page_count') * storedNumber(database, 'PRAGMA page_size');
    const position = new RecordTable(database).last()?.position ?? 0n;
    if (BigInt(statSync(file).size) === pages && position === copy.position) return;
    throw new Error(`the copy ends at position ${position} instead of ${copy.position}`);
  } finally {
    database.close();
  }
}

function storedNumber(database: SqlDatabase, sql: string): bigint {
  const row = database.prepare(sql).first([]);
  return row === undefined ? 0n : integerColumn(row, 0);
}
