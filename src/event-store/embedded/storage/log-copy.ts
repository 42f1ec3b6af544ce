import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { SqlDatabase, errorCode, integerColumn } from './database.js';
import type { EventLog } from './event-log.js';
import type { LogRecord } from './record-table.js';
import { FIRST_POSITION, RecordTable, positionAfter } from './record-table.js';
import { prepareSchema } from './schema.js';
import { storedBlob, storedInteger } from './stored-columns.js';
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
 * when it is whole and on disk. Throws when it exists already, or when the signal gives the copy up.
 */
export async function copyLog(log: EventLog, file: string, signal: AbortSignal): Promise<LogCopy> {
  if (existsSync(file)) throw existsAlready(file);
  // Of its own: two copies to the same place must not write to one file.
  const partial = `${file}.${randomUUID().slice(0, 8)}.partial`;
  try {
    const copy = await writeCopy(log, partial, signal);
    checkCopy(partial, copy);
    publish(partial, file);
    syncDirectory(dirname(file));
    return copy;
  } catch (error) {
    for (const part of ['', '-wal', '-journal']) rmSync(`${partial}${part}`, { force: true });
    throw error;
  }
}

function existsAlready(file: string): Error {
  return new Error(`${file} exists already`);
}

/** A rename would replace what another copy has put there meanwhile. */
function publish(partial: string, file: string): void {
  try {
    linkSync(partial, file);
  } catch (error) {
    if (errorCode(error) === 'EEXIST' || existsSync(file)) throw existsAlready(file);
    // A file system that has no links, such as an external disk's.
    renameSync(partial, file);
  }
  rmSync(partial, { force: true });
}

async function writeCopy(log: EventLog, file: string, signal: AbortSignal): Promise<LogCopy> {
  const target = new SqlDatabase(file);
  try {
    prepareSchema(target);
    const end = log.head;
    const pause = () => nextTurn(signal);
    await copyNames(log, target, 'streams', log.streams.lastId(), pause);
    await copyNames(log, target, 'event_types', log.types.lastId(), pause);
    const copy = await copyRecords(log, target, end, pause);
    target.closeWhole();
    return copy;
  } catch (error) {
    target.close();
    throw error;
  }
}

async function nextTurn(signal: AbortSignal): Promise<void> {
  await setImmediate();
  if (signal.aborted) throw new Error('the copy was given up');
}

async function copyNames(
  log: EventLog,
  target: SqlDatabase,
  table: 'streams' | 'event_types',
  last: bigint,
  pause: () => Promise<void>,
): Promise<void> {
  const select = log.database.prepare(
    `SELECT id, name, crc FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
  );
  const insert = target.prepare(`INSERT INTO ${table} (id, name, crc) VALUES (?, ?, ?)`);
  for (let after = 0n; after < last;) {
    const rows = select.all([after, last, NAMES_A_SLICE]);
    target.transaction(() => {
      for (const row of rows) {
        const place = { table, key: row[0] };
        after = storedInteger(row, 0, place);
        insert.run([after, storedBlob(row, 1, place), storedInteger(row, 2, place)]);
      }
    });
    if (rows.length === 0) return;
    await pause();
  }
}

async function copyRecords(
  log: EventLog,
  target: SqlDatabase,
  end: bigint,
  pause: () => Promise<void>,
): Promise<LogCopy> {
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
    await pause();
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
