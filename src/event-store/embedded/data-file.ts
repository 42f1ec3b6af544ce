import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from './storage/database.js';
import { EventLog } from './storage/event-log.js';
import { asDamage } from './storage/log-verification.js';
import { checkWriteAheadLog } from './storage/wal-check.js';

export const DATA_FILE = 'eventstore.db';

export interface OpenLogOptions {
  /** Told what a long start is at. */
  readonly onStarting?: (doing: string) => void;
  /** Told why a write could not be done. */
  readonly onFault?: (error: unknown) => void;
}

/**
 * Opens the event store of a directory, made if missing, for this process alone. Throws with a sentence that
 * names the file when another process has it open, or when it is damaged.
 */
export function openLog(dir: string, { onStarting, onFault }: OpenLogOptions = {}): EventLog {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, DATA_FILE);
  try {
    checkUnlessWritten(`${file}-wal`, (part) =>
      onStarting?.(`checking the write-ahead log, ${Math.floor(part * 100)} %`),
    );
    return EventLog.open(file, Date.now, onFault);
  } catch (error) {
    if (errorCode(error) === 'SQLITE_BUSY') {
      throw new Error(`${file} is open in another process`, { cause: error });
    }
    throw asDamage(error, file);
  }
}

/** The check comes before the lock: a log that another process writes to meanwhile can look torn in its middle. */
function checkUnlessWritten(writeAheadLog: string, onPart: (part: number) => void): void {
  const before = fingerprint(writeAheadLog);
  try {
    checkWriteAheadLog(writeAheadLog, onPart);
  } catch (error) {
    if (fingerprint(writeAheadLog) === before) throw error;
    throw Object.assign(new Error('written to while it was checked', { cause: error }), {
      code: 'SQLITE_BUSY',
    });
  }
}

function fingerprint(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs}`;
}
