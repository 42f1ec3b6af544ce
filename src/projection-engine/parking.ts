import type { Database } from '../database/database.js';
import { UnstorableValue } from './row-codec.js';
import type { Position } from '../event-store/position.js';

/** A stream whose events from `revision` on are not in the read models, and why. */
export interface ParkedStream {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  readonly eventId: string;
  readonly eventType: string;
  readonly reason: string;
}

const POISON_CLASSES = new Set(['22', '23', '54']);

/** What says that the data cannot be stored, by SQLSTATE class; everything else is worth another try (design 6). */
export function isPoison(error: unknown): boolean {
  if (error instanceof UnstorableValue) return true;
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return (
    typeof error.code === 'string' && error.code.length === 5 && POISON_CLASSES.has(error.code.slice(0, 2))
  );
}

/** Each parked stream with the position from which on its events are not in the read models. */
export async function parkedStreams(database: Database, setVersion: string): Promise<Map<string, Position>> {
  const rows = await database.query<{ stream: string; position: string }>(
    'parked-streams',
    'SELECT stream, position FROM rollcall.parked_streams WHERE set_version = $1',
    [setVersion],
  );
  return new Map(rows.map(({ stream, position }) => [stream, BigInt(position)]));
}
