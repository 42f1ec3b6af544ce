import type pg from 'pg';
import { underLock } from '../database/migrate.js';
import type { EngineLog } from './engine.js';
import { schemaOf } from './set-version.js';
import { versionsNow } from './standing-sets.js';

/** Long enough to go back to the build of yesterday without filling its set again. */
const UNUSED_FOR = "interval '1 day'";
const LOOK_EVERY_MS = 3_600_000;

/** Drops the sets, left-over rebuilds and audits among them, that nobody has owned for a day. Gives their versions. */
export async function dropUnusedSets(databaseUrl: string, ownVersion: string): Promise<string[]> {
  const dropped: string[] = [];
  await underLock(databaseUrl, async (client) => {
    for (const version of await versionsNow(client)) {
      if (version !== ownVersion && (await isUnused(client, version)) && (await drop(client, version)))
        dropped.push(version);
    }
  });
  return dropped;
}

/** One whose server died before it owned it has no row: then its checkpoint says when it was made. */
async function isUnused(client: pg.Client, version: string): Promise<boolean> {
  const { rows } = await client.query<{ unused: boolean }>(
    `SELECT coalesce((SELECT renewed_at FROM rollcall.projection_sets WHERE version = $1),
       (SELECT committed_at FROM ${client.escapeIdentifier(schemaOf(version))}.checkpoint))
       < clock_timestamp() - ${UNUSED_FOR} AS unused`,
    [version],
  );
  return rows[0]?.unused === true;
}

/** False when somebody has taken it meanwhile. Its row stays: a former owner must find a higher epoch. */
async function drop(client: pg.Client, version: string): Promise<boolean> {
  await client.query('BEGIN');
  await client.query(`DROP SCHEMA ${client.escapeIdentifier(schemaOf(version))} CASCADE`);
  await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = $1', [version]);
  // Last: who wants to own it waits for the lock on its row.
  const taken = await client.query(
    `SELECT 1 FROM (SELECT renewed_at FROM rollcall.projection_sets WHERE version = $1 FOR UPDATE) AS own
     WHERE renewed_at >= clock_timestamp() - ${UNUSED_FOR}`,
    [version],
  );
  await client.query(taken.rowCount === 0 ? 'COMMIT' : 'ROLLBACK');
  return taken.rowCount === 0;
}

/** Looks for unused sets at once and every hour, while this node owns the set. */
export class UnusedSets {
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly databaseUrl: string,
    private readonly ownVersion: string,
    private readonly logger: EngineLog,
  ) {}

  owned(owned: boolean): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = owned ? setInterval(() => void this.look(), LOOK_EVERY_MS).unref() : null;
    if (owned) void this.look();
  }

  private async look(): Promise<void> {
    try {
      const versions = await dropUnusedSets(this.databaseUrl, this.ownVersion);
      if (versions.length > 0)
        this.logger.info({ versions }, 'sets that no build used for a day are dropped');
    } catch (error) {
      this.logger.warn({ err: error }, 'unused sets could not be looked for');
    }
  }
}
