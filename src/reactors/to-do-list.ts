import { obligationsProjection, type OwedRow } from '../../projections/obligations/projection.js';
import type { Database } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import { fromDatabase } from '../projection-engine/row-codec.js';
import { schemaOf } from '../projection-engine/set-version.js';

export const PAGE = 200;

export interface OwedNow {
  readonly owed: number;
  /** Seconds by Postgres' clock since the oldest of them came to be owed; null when nothing is. */
  readonly oldestSeconds: number | null;
}

/** What is owed, as the read model `obligations` has it. */
export class ToDoList {
  private readonly schema: string;

  constructor(
    private readonly database: Database,
    private readonly setVersion: string,
  ) {
    this.schema = schemaOf(setVersion);
  }

  /**
   * A page of what is owed beyond `from` and up to `upTo`, in the order of the log. Empty for an epoch that is no longer
   * the set's: who was the owner, and slept, finds nothing to do.
   */
  async due(epoch: bigint, from: Position, upTo: Position): Promise<OwedRow[]> {
    const rows = await this.database.query<Record<string, unknown>>(
      'obligations-due',
      `SELECT * FROM ${this.schema}.obligations
       WHERE NOT met AND position > $1 AND position <= $2
         AND EXISTS (SELECT FROM rollcall.projection_sets WHERE version = $3 AND epoch = $4)
       ORDER BY position LIMIT ${PAGE}`,
      [from.toString(), upTo.toString(), this.setVersion, epoch.toString()],
    );
    return rows.map((row) => fromDatabase(obligationsProjection.table.columns, row) as OwedRow);
  }

  async owedNow(): Promise<OwedNow> {
    const rows = await this.database.query<{ owed: number; oldest: number | null }>(
      'obligations-owed',
      `SELECT count(*)::int AS owed,
         extract(epoch FROM clock_timestamp() - min(owed_at))::double precision AS oldest
       FROM ${this.schema}.obligations WHERE NOT met`,
    );
    const { owed = 0, oldest = null } = rows[0] ?? {};
    return { owed, oldestSeconds: oldest === null ? null : Math.max(0, oldest) };
  }
}
