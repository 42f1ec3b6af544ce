import type pg from 'pg';
import { isOwnedNow } from './ownership.js';
import { PARKING_CHANNEL } from './parking.js';
import { fromStored, keyOf } from './parked-table.js';

/** A parked stream, as operators see it. */
export interface ParkedReport {
  readonly stream: string;
  /** Decimal, of the first event that is not in the read models. */
  readonly revision: string;
  readonly position: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly parked_at: string;
  /** How often it was tried to apply the stream, the first time included. */
  readonly attempts: number;
  readonly retry_requested: boolean;
}

interface Row extends Omit<ParkedReport, 'parked_at'> {
  readonly parked_at: Date;
}

/** What operators see of the parked streams of a set, and ask for. The client is connected and stays the caller's. */
export class ParkedList {
  constructor(
    private readonly client: pg.Client,
    private readonly setVersion: string,
  ) {}

  /** In the order in which the log holds the events. */
  async all(): Promise<ParkedReport[]> {
    const { rows } = await this.client.query<Row>(
      `SELECT stream, revision, position, event_id, event_type, reason, parked_at, attempts,
         retry_requested_at IS NOT NULL AS retry_requested
       FROM rollcall.parked_streams WHERE set_version = $1 ORDER BY parked_streams.position`,
      [this.setVersion],
    );
    return rows.map((row) => ({
      ...row,
      stream: fromStored(row.stream),
      event_type: fromStored(row.event_type),
      parked_at: row.parked_at.toISOString(),
    }));
  }

  /** Asks the owner of the set to retry one parked stream, or all. Gives the names of those that it was asked for. */
  async requestRetry(stream: string | null): Promise<string[]> {
    const { rows } = await this.client.query<{ stream: string }>(
      `UPDATE rollcall.parked_streams SET retry_requested_at = coalesce(retry_requested_at, clock_timestamp())
       WHERE set_version = $1 AND ($2::text IS NULL OR stream_key = $2) RETURNING stream`,
      [this.setVersion, stream === null ? null : keyOf(stream)],
    );
    await this.client.query('SELECT pg_notify($1, $2)', [PARKING_CHANNEL, this.setVersion]);
    return rows.map((row) => fromStored(row.stream));
  }

  /** Whether some node feeds the set now, and so will carry out what is asked for. */
  async isFed(): Promise<boolean> {
    const { rowCount } = await this.client.query(
      `SELECT FROM rollcall.projection_sets
       WHERE version = $1 AND ${isOwnedNow}`,
      [this.setVersion],
    );
    return rowCount !== 0;
  }
}
