import { underLock } from '../database/migrate.js';
import { SET_SCHEMA, SET_VERSION } from '../projection-engine/this-set.js';
import { type Command, print, UsageError } from './command.js';

/** A server that is running would fill and serve what is being dropped. */
export class SetInUse extends Error {
  constructor() {
    super('a running server owns the read models; stop it first');
    this.name = 'SetInUse';
  }
}

export const rebuild: Command = {
  words: ['rebuild'],
  synopsis: '--all',
  help: ['drop the read models; the next start of the server fills them from the log'],
  options: { all: { type: 'boolean' } },
  async run({ stores }, { positionals, values }) {
    if (values['all'] !== true || positionals.length > 0) throw new UsageError();
    const { databaseUrl } = await stores();
    await dropReadModels(databaseUrl);
    print('The read models are dropped; the next start fills them from the log.');
    return 0;
  },
};

/**
 * Drops the read models of this build, what is parked in them and the folded streams: the next start fills them from
 * the log. Nothing in the log changes. Throws `SetInUse`.
 */
export async function dropReadModels(databaseUrl: string): Promise<void> {
  await underLock(databaseUrl, async (client) => {
    const known = await client.query<{ known: boolean }>(
      "SELECT to_regclass('rollcall.projection_sets') IS NOT NULL AS known",
    );
    if (known.rows[0]?.known !== true) return;
    const owned = await client.query(
      `SELECT 1 FROM rollcall.projection_sets
       WHERE version = $1 AND owner IS NOT NULL AND renewed_at > clock_timestamp() - interval '3 seconds'`,
      [SET_VERSION],
    );
    if (owned.rowCount !== 0) throw new SetInUse();
    await client.query(`DROP SCHEMA IF EXISTS ${SET_SCHEMA} CASCADE`);
    await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = $1', [SET_VERSION]);
    await client.query('TRUNCATE rollcall.stream_snapshots');
  });
}
