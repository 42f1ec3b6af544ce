import { connect } from 'node:http2';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DATA_FILE, openLog } from './data-file.js';
import type { PidRecord } from './pid-file.js';
import { readPidFile } from './pid-file.js';
import { BACKUP_PATH, decodeBackupReport, encodeBackupRequest } from './service/maintenance.js';
import type { BackupReport } from './service/maintenance.js';
import { copyLog } from './storage/log-copy.js';
import { frame } from './transport/frame-decoder.js';

export type { BackupReport } from './service/maintenance.js';

/**
 * Copies the event store of a directory into a new file, through the running node if there is one, else
 * straight from the file. Restoring is putting that file in an empty directory under the name `eventstore.db`.
 * Rejects when the target exists, when there is no event store, or when a record is damaged, or when the signal
 * gives it up; then it leaves nothing behind.
 */
export async function backupEmbeddedEventStore(
  dir: string,
  file: string,
  signal: AbortSignal,
): Promise<BackupReport> {
  const source = resolve(dir);
  const target = resolve(file);
  if (!existsSync(join(source, DATA_FILE))) throw new Error(`there is no event store in ${source}`);
  const running = readPidFile(source);
  const serves = running !== undefined && running.port !== 0;
  const answered = serves ? await askNode(running, target, signal) : undefined;
  if (answered !== undefined) return answered;
  const log = openLog(source);
  try {
    return await copyLog(log, target, signal);
  } finally {
    log.close();
  }
}

/** Undefined when nobody listens on the port: the pid file is a dead node's. */
function askNode(
  { port, token }: PidRecord,
  file: string,
  signal: AbortSignal,
): Promise<BackupReport | undefined> {
  return new Promise((settle, reject) => {
    const session = connect(`http://127.0.0.1:${port}`);
    const fail = (message: string): void => {
      // The node gives a backup up when its caller is gone.
      session.destroy();
      reject(new Error(message));
    };
    const giveUp = (): void => fail('the backup was given up');
    signal.addEventListener('abort', giveUp);
    session.once('close', () => signal.removeEventListener('abort', giveUp));
    if (signal.aborted) giveUp();
    session.once('error', (error: Error & { code?: string }) => {
      if (error.code === 'ECONNREFUSED') settle(undefined);
      else fail(error.message);
    });
    const call = session.request({
      ':method': 'POST',
      ':path': BACKUP_PATH,
      'content-type': 'application/grpc',
    });
    const chunks: Buffer[] = [];
    const readStatus = (headers: Record<string, unknown>): void => {
      const message = headers['grpc-message'];
      if (headers['grpc-status'] !== undefined && headers['grpc-status'] !== '0') {
        fail(typeof message === 'string' ? decodeURIComponent(message) : 'the node refused the backup');
      }
    };
    call.on('response', readStatus);
    call.on('trailers', readStatus);
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.once('error', () => undefined);
    call.once('end', () => {
      session.close();
      const answer = Buffer.concat(chunks);
      if (answer.length >= 5) settle(decodeBackupReport(answer.subarray(5)));
      else fail('the node ended the backup without an answer');
    });
    call.end(frame(encodeBackupRequest(token, file)));
  });
}
