import { underLock } from '../database/migrate.js';
import type { EngineLog } from './engine.js';
import { schemaOf } from './set-version.js';

/** Long enough to go back to the build of yesterday without filling its set again. */
const UNUSED_FOR = "interval '1 day'";
const LOOK_EVERY_MS = 3_600_000;

/** Drops the sets, left-over rebuilds and audits among them, that nobody has owned for a day. Gives their versions. */
export async function dropUnusedSets(databaseUrl: string, ownVersion: string): Promise<string[]> {
  const dropped: string[] = [];
  await underLock(databaseUrl, async (client) => {
    const unused = await client.query<{ version: string }>(
      `DELETE FROM rollcall.projection_sets
       WHERE version <> $1 AND renewed_at < clock_timestamp() - ${UNUSED_FOR} RETURNING version`,
      [ownVersion],
    );
    for (const { version } of unused.rows) {
      await client.query(`DROP SCHEMA IF EXISTS ${client.escapeIdentifier(schemaOf(version))} CASCADE`);
      await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = $1', [version]);
      dropped.push(version);
    }
  });
  return dropped;
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
