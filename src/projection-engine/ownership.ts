import { type ConnectionLimits, Database } from '../database/database.js';
import type { Figures } from './engine-figures.js';
import { publishedFigures } from './published-figures.js';
import type { SetLease } from './ports.js';

/** Renewed each second, taken over after three (design 6), by Postgres' clock alone. */
export const RENEW_MS = 1_000;
export const LEASE_MS = 3_000;
/** In SQL. */
export const LEASE = `interval '${LEASE_MS} milliseconds'`;
/** In SQL, of a row of `rollcall.projection_sets`. */
export const isOwnedNow = `(owner IS NOT NULL AND renewed_at > clock_timestamp() - ${LEASE})`;

/** Below the lease, so that a database which does not answer costs the set and not only the time. */
const LEASE_LIMITS: ConnectionLimits = { answerMs: 2_000, statementMs: 2_000, lockMs: 1_500 };

/** A pool of its own for the lease, so that a crowded one cannot cost it. */
export function leaseDatabase(url: string): Database {
  return new Database(url, 1, undefined, LEASE_LIMITS);
}

/** Which node feeds the set. A commit of an older epoch is refused, so an owner that slept cannot write. */
export class Ownership implements SetLease {
  constructor(
    private readonly database: Database,
    private readonly setVersion: string,
    private readonly nodeId: string,
  ) {}

  /** The epoch now held, or null while another node holds the set. */
  async acquire(): Promise<bigint | null> {
    const rows = await this.database
      .query<{ epoch: string }>(
        'ownership-acquire',
        `INSERT INTO rollcall.projection_sets AS s (version, owner, epoch, renewed_at)
       VALUES ($1, $2, 1, clock_timestamp())
       ON CONFLICT (version) DO UPDATE
         SET owner = excluded.owner, epoch = s.epoch + 1, renewed_at = excluded.renewed_at, figures = NULL
         WHERE s.owner IS NULL OR s.owner = excluded.owner OR s.renewed_at < clock_timestamp() - ${LEASE}
           -- Postgres' clock was set back: an owner that lives says so anew within a second.
           OR s.renewed_at > clock_timestamp() + ${LEASE}
       RETURNING epoch`,
        [this.setVersion, this.nodeId],
      )
      .catch((error: unknown) => {
        // A batch of the owner holds the row: it is at work.
        if (isLockTimeout(error)) return [];
        throw error;
      });
    const row = rows[0];
    return row ? BigInt(row.epoch) : null;
  }

  /** Takes the set from whoever holds it, for work that nothing else may write beside. The former owner is fenced. */
  async seize(): Promise<bigint> {
    const rows = await this.database.query<{ epoch: string }>(
      'ownership-seize',
      `INSERT INTO rollcall.projection_sets AS s (version, owner, epoch, renewed_at)
       VALUES ($1, $2, 1, clock_timestamp())
       ON CONFLICT (version) DO UPDATE
         SET owner = excluded.owner, epoch = s.epoch + 1, renewed_at = excluded.renewed_at
       RETURNING epoch`,
      [this.setVersion, this.nodeId],
    );
    return BigInt(rows[0]?.epoch ?? 0);
  }

  /** False when the epoch is no longer ours. */
  async renew(epoch: bigint, figures: Figures | null): Promise<boolean> {
    const ours = [this.setVersion, this.nodeId, epoch.toString()];
    try {
      const rows = await this.database.query(
        'ownership-renew',
        `UPDATE rollcall.projection_sets SET renewed_at = clock_timestamp(), figures = $4
         WHERE version = $1 AND owner = $2 AND epoch = $3 RETURNING 1 AS held`,
        [...ours, figures && JSON.stringify(publishedFigures(figures))],
      );
      return rows.length > 0;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
    // A batch of ours has held the row all the time: no silence of the database. Reading waits for no lock.
    const rows = await this.database.query(
      'ownership-held',
      'SELECT 1 AS held FROM rollcall.projection_sets WHERE version = $1 AND owner = $2 AND epoch = $3',
      ours,
    );
    return rows.length > 0;
  }

  /** Lets another node take over at once. */
  async release(epoch: bigint): Promise<void> {
    await this.database.query(
      'ownership-release',
      'UPDATE rollcall.projection_sets SET owner = NULL WHERE version = $1 AND owner = $2 AND epoch = $3',
      [this.setVersion, this.nodeId, epoch.toString()],
    );
  }
}

function isLockTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '55P03';
}
