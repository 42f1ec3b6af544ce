import type { SqlDatabase } from './database.js';
import { integerColumn } from './database.js';

/** Raised when the tables change; a file of another format is refused rather than guessed at. */
export const FORMAT = 1n;

const TABLES = `
CREATE TABLE IF NOT EXISTS streams (
  id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS event_types (
  id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS records (
  position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, revision INTEGER NOT NULL, type INTEGER NOT NULL,
  created INTEGER NOT NULL, crc INTEGER NOT NULL, record BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_stream ON records (stream, revision);
`;

/**
 * Readies the connection: one process per file, and a commit returns only when it is on disk.
 * Throws when the file belongs to another format or another process (`SQLITE_BUSY`).
 */
export function prepareSchema(database: SqlDatabase): void {
  database.prepare('PRAGMA locking_mode = EXCLUSIVE').all([]);
  database.prepare('PRAGMA journal_mode = WAL').all([]);
  database.exec('PRAGMA synchronous = FULL');
  // Elsewhere they change nothing; a Mac's sync leaves the data in the cache of the drive without them.
  database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  database.exec('PRAGMA cache_size = -32768');
  const row = database.prepare('PRAGMA user_version').first([]);
  const format = row === undefined ? 0n : integerColumn(row, 0);
  if (format !== 0n && format !== FORMAT) {
    throw new Error(`the event store file has format ${format}, this build reads ${FORMAT}`);
  }
  // An open that writes nothing: behind a damaged end of the write-ahead log lies what a repair could use.
  if (format === FORMAT) return;
  database.transaction(() => {
    database.exec(TABLES);
    database.exec(`PRAGMA user_version = ${FORMAT}`);
  });
}
