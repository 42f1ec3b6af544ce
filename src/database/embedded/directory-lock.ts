import Database from 'libsql';
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeEnterable } from './enterable.js';

/** Another process uses the directory. */
export class DirectoryInUseError extends Error {
  constructor(
    readonly directory: string,
    /** Null in the short moment before the holder has written its pid. */
    readonly pid: number | null,
  ) {
    super(
      `${directory} is in use by another Rollcall${pid === null ? '' : ` (pid ${pid})`}; stop that one or choose another ROLLCALL_DATA_DIR`,
    );
  }
}

export interface DirectoryLock {
  release(): void;
}

const BUSY = /SQLITE_BUSY|database is locked/i;

/**
 * Takes a directory for this process alone, making it if needed. Throws DirectoryInUseError when another process has it.
 *
 * The lock is SQLite's exclusive lock on a database that holds nothing. The kernel keeps it and drops it when the
 * process dies in whatever way, so there is no stale lock to judge. The pid beside it only serves the message.
 */
export function lockDirectory(directory: string): DirectoryLock {
  makeEnterable(directory);
  accessSync(directory, constants.W_OK);
  const pidFile = join(directory, 'rollcall.pid');
  const database = new Database(join(directory, 'rollcall.lock.db'), { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && BUSY.test(`${error.message} ${String(Reflect.get(error, 'code'))}`)) {
      throw new DirectoryInUseError(directory, pidIn(pidFile));
    }
    throw error;
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return { release: () => void database.close() };
}

function pidIn(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isSafeInteger(pid) ? pid : null;
  } catch {
    return null;
  }
}
