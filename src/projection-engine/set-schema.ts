import type pg from 'pg';
import type { AnyProjection } from '../../projections/projection-set.js';
import { underLock } from '../database/migrate.js';
import type { Position } from '../event-store/position.js';
import { schemaOf } from './set-version.js';
import { tableSql } from './table-sql.js';

/** Before the first event. */
export const NOTHING_APPLIED = -1n;

/** The read models were filled from another log, or from a longer one that was since restored. */
export class ForeignLog extends Error {
  constructor(reason: string) {
    super(`${reason}; run "rollcall rebuild --all" to fill the read models from this log`);
    this.name = 'ForeignLog';
  }
}

export interface LogPlace {
  readonly id: string;
  /** Position of the log's newest event, -1 when it is empty. */
  readonly head: () => Promise<Position>;
}

/** Makes the set's schema if it is not there, and refuses one that belongs to another log. Throws `ForeignLog`. */
export async function prepareSet(
  url: string,
  setVersion: string,
  projections: readonly AnyProjection[],
  log: LogPlace,
): Promise<void> {
  const schema = schemaOf(setVersion);
  await underLock(url, async (client) => {
    const found = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
    if (found.rowCount === 0) await createSet(client, schema, projections, log.id);
    const rows = await client.query<{ log_id: string; position: string }>(
      `SELECT log_id, position FROM ${schema}.checkpoint`,
    );
    const checkpoint = rows.rows[0];
    if (!checkpoint || checkpoint.log_id !== log.id) {
      throw new ForeignLog(
        `The read models belong to log ${checkpoint?.log_id ?? 'unknown'}, this is log ${log.id}`,
      );
    }
    // Read after the checkpoint, which other nodes move while this one starts.
    const head = await log.head();
    if (BigInt(checkpoint.position) > head) {
      throw new ForeignLog(`The read models stand at ${checkpoint.position}, beyond the log's head ${head}`);
    }
  });
}

async function createSet(
  client: pg.Client,
  schema: string,
  projections: readonly AnyProjection[],
  logId: string,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(
      `CREATE TABLE ${schema}.checkpoint (
         only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
         log_id text NOT NULL, position bigint NOT NULL, filled boolean NOT NULL DEFAULT false,
         committed_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
    );
    await client.query(`INSERT INTO ${schema}.checkpoint (log_id, position) VALUES ($1, $2)`, [
      logId,
      NOTHING_APPLIED,
    ]);
    for (const projection of projections) {
      for (const statement of tableSql(schema, projection).create) await client.query(statement);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
