import type { ClientBase } from 'pg';
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

/** The same with what is known of each, in the order of the log. */
export async function parkedDetails(
  database: Pick<Database, 'query'>,
  setVersion: string,
): Promise<ParkedStream[]> {
  const rows = await database.query<
    Record<'stream' | 'revision' | 'position' | 'id' | 'type' | 'reason', string>
  >(
    'parked-details',
    `SELECT stream, revision, position, event_id AS id, event_type AS type, reason
     FROM rollcall.parked_streams WHERE set_version = $1 ORDER BY parked_streams.position`,
    [setVersion],
  );
  return rows.map(({ stream, revision, position, id, type, reason }) => ({
    stream,
    revision: BigInt(revision),
    position: BigInt(position),
    eventId: id,
    eventType: type,
    reason,
  }));
}

/** Notes the stream as parked in the set, inside the transaction of the connection. */
export async function parkStream(
  client: ClientBase,
  setVersion: string,
  parked: ParkedStream,
): Promise<void> {
  const { stream, revision, position, eventId, eventType, reason } = parked;
  await client.query(
    `INSERT INTO rollcall.parked_streams (set_version, stream, revision, position, event_id, event_type, reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
    [setVersion, stream, revision.toString(), position.toString(), eventId, eventType, reason],
  );
}
