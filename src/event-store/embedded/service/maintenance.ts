import { timingSafeEqual } from 'node:crypto';
import { GrpcError, Status, accessDenied, invalidArgument } from '../protocol/grpc-error.js';
import { copyLog } from '../storage/log-copy.js';
import type { EventLog } from '../storage/event-log.js';
import type { GrpcCall } from '../transport/grpc-call.js';
import { WireReader } from '../wire/wire-reader.js';
import { WireWriter } from '../wire/wire-writer.js';

export const BACKUP_PATH = '/rollcall.event_store.Maintenance/Backup';

/** Asks the running node for a copy: the token of its pid file (1) and the path of the new file (2). */
export function encodeBackupRequest(token: string, file: string): Buffer {
  return new WireWriter().string(1, token).string(2, file).finish();
}

/** What a backup holds: the number of events and the position of the last one. */
export interface BackupReport {
  readonly events: bigint;
  readonly position: bigint;
}

export function decodeBackupReport(message: Buffer): BackupReport {
  const reader = new WireReader(message);
  let events = 0n;
  let position = 0n;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag >>> 3 === 1) events = reader.uint64(tag);
    else if (tag >>> 3 === 2) position = reader.uint64(tag);
    else reader.skip(tag);
  }
  return { events, position };
}

/**
 * Writes a backup while the node goes on serving, for as long as somebody waits for it. Only who may read the pid
 * file may ask for it.
 */
export async function backup(log: EventLog, call: GrpcCall, token: string): Promise<void> {
  const reader = new WireReader(await call.receiveOne());
  let given = '';
  let file = '';
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag >>> 3 === 1) given = reader.string(tag);
    else if (tag >>> 3 === 2) file = reader.string(tag);
    else reader.skip(tag);
  }
  if (!sameToken(given, token)) throw accessDenied();
  if (file === '') throw invalidArgument('The path of the backup is missing.');
  try {
    const { events, position } = await copyLog(log, file, call.closed);
    call.end(new WireWriter().varint(1, events).varint(2, position).finish());
  } catch (error) {
    throw new GrpcError(Status.FAILED_PRECONDITION, error instanceof Error ? error.message : String(error));
  }
}

function sameToken(given: string, token: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(token);
  return left.length === right.length && timingSafeEqual(left, right);
}
