import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from './storage/database.js';
import { EventLog } from './storage/event-log.js';
import { asDamage } from './storage/log-verification.js';
import { checkWriteAheadLog } from './storage/wal-check.js';

export const DATA_FILE = 'eventstore.db';

/**
 * Opens the event store of a directory, made if missing, for this process alone. Throws with a sentence that
 * names the file when another process has it open, or when it is damaged.
 */
export function openLog(dir: string): EventLog {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, DATA_FILE);
  try {
    checkWriteAheadLog(`${file}-wal`);
    return EventLog.open(file, Date.now);
  } catch (error) {
    if (errorCode(error) === 'SQLITE_BUSY') {
      throw new Error(`${file} is open in another process`, { cause: error });
    }
    throw asDamage(error, file);
  }
}
