import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { Database } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import { toSafeText } from '../text/well-formed.js';
import { PARKING_CHANNEL, type ParkedEvent, type ParkedStream, type RetryStep } from './parking.js';

const REASON_LENGTH = 2_000;

/** What every node knows of a parked stream. */
export interface KnownParked {
  /** From which on its events are not in the read models. */
  readonly position: Position;
  readonly retryRequested: boolean;
}

/** The streams that are parked in a set, by their names. */
export async function parkedStreams(
  database: Database,
  setVersion: string,
): Promise<Map<string, KnownParked>> {
  const rows = await database.query<{ stream: string; position: string; requested: boolean }>(
    'parked-streams',
    `SELECT stream, position, retry_requested_at IS NOT NULL AS requested
     FROM rollcall.parked_streams WHERE set_version = $1`,
    [setVersion],
  );
  return new Map(
    rows.map(({ stream, position, requested }) => [
      fromStored(stream),
      { position: BigInt(position), retryRequested: requested },
    ]),
  );
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
    stream: fromStored(stream),
    revision: BigInt(revision),
    position: BigInt(position),
    eventId: id,
    eventType: fromStored(type),
    reason,
  }));
}

/** Notes the stream as parked in the set, inside the transaction of the connection. */
export async function parkStream(
  client: ClientBase,
  setVersion: string,
  parked: ParkedStream,
): Promise<void> {
  await client.query(
    `INSERT INTO rollcall.parked_streams
       (set_version, stream_key, stream, revision, position, event_id, event_type, reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [setVersion, keyOf(parked.stream), toStored(parked.stream), ...placeOf(parked), reasonOf(parked)],
  );
  await tell(client, setVersion);
}

const PLACE = ['revision', 'position', 'event_id', 'event_type', 'reason'];

/** What is parked in one set takes the place of what is parked in another, inside the transaction of the connection. */
export async function replaceParked(client: ClientBase, from: string, to: string): Promise<void> {
  await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = $1', [to]);
  await client.query('UPDATE rollcall.parked_streams SET set_version = $1 WHERE set_version = $2', [
    to,
    from,
  ]);
  await tell(client, to);
}

/** What is parked in one set is parked in another too: of a stream the earlier place stands. In a transaction likewise. */
export async function addParked(client: ClientBase, from: string, to: string): Promise<void> {
  const place = PLACE.map((column) => `${column} = excluded.${column}`).join(', ');
  await client.query(
    `INSERT INTO rollcall.parked_streams AS standing (set_version, stream_key, stream, ${PLACE.join(', ')})
     SELECT $1, stream_key, stream, ${PLACE.join(', ')} FROM rollcall.parked_streams WHERE set_version = $2
     ON CONFLICT (set_version, stream_key) DO UPDATE SET ${place} WHERE excluded.position < standing.position`,
    [to, from],
  );
  await tell(client, to);
}

async function tell(client: ClientBase, setVersion: string): Promise<void> {
  await client.query('SELECT pg_notify($1, $2)', [PARKING_CHANNEL, setVersion]);
}

/** The rows of `rollcall.parked_streams`, as the owner of a set writes them. */
export class ParkedTable {
  constructor(
    private readonly client: ClientBase,
    private readonly setVersion: string,
  ) {}

  park(parked: ParkedStream): Promise<void> {
    return parkStream(this.client, this.setVersion, parked);
  }

  /** The longest waiting of the retries that are asked for; null without one. */
  async requested(): Promise<{ stream: string; revision: bigint } | null> {
    const { rows } = await this.client.query<{ stream: string; revision: string }>(
      `SELECT stream, revision FROM rollcall.parked_streams
       WHERE set_version = $1 AND retry_requested_at IS NOT NULL
       ORDER BY retry_requested_at, stream_key LIMIT 1`,
      [this.setVersion],
    );
    return rows[0] ? { stream: fromStored(rows[0].stream), revision: BigInt(rows[0].revision) } : null;
  }

  /** Lets the others go first: the stream cannot be read now. */
  async postpone(stream: string): Promise<void> {
    await this.update(stream, 'retry_requested_at = clock_timestamp()', []);
  }

  async step(step: RetryStep): Promise<void> {
    const place = 'revision = $3, position = $4, event_id = $5, event_type = $6';
    switch (step.kind) {
      case 'moved':
        return this.update(step.to.stream, place, placeOf(step.to));
      case 'parked':
        await this.update(
          step.at.stream,
          `${place}, reason = $7, attempts = attempts + 1, retry_requested_at = NULL`,
          [...placeOf(step.at), reasonOf(step.at)],
        );
        return this.tell();
      case 'free':
        await this.client.query(
          'DELETE FROM rollcall.parked_streams WHERE set_version = $1 AND stream_key = $2',
          [this.setVersion, keyOf(step.stream)],
        );
        return this.tell();
    }
  }

  private async update(stream: string, set: string, values: readonly string[]): Promise<void> {
    await this.client.query(
      `UPDATE rollcall.parked_streams SET ${set} WHERE set_version = $1 AND stream_key = $2`,
      [this.setVersion, keyOf(stream), ...values],
    );
  }

  private tell(): Promise<void> {
    return tell(this.client, this.setVersion);
  }
}

/** A name may be longer than an index takes. */
export function keyOf(stream: string): string {
  return createHash('sha256').update(stream).digest('hex');
}

function placeOf({ revision, position, eventId, eventType }: ParkedEvent): string[] {
  return [revision.toString(), position.toString(), eventId, toStored(eventType)];
}

function reasonOf({ reason }: ParkedStream): string {
  return toSafeText(reason).slice(0, REASON_LENGTH);
}

/** Postgres holds no NUL, and a name must come back as it was. */
function toStored(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

export function fromStored(stored: string): string {
  return stored.replace(/\\(.)/g, (_, escaped: string) => (escaped === '0' ? '\0' : escaped));
}
