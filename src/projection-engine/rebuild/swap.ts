import type pg from 'pg';
import type { AnyProjection } from '../../../projections/projection-set.js';
import type { Position } from '../../event-store/position.js';
import { addParked, replaceParked } from '../parked-table.js';
import { Fenced } from '../set-writer.js';
import { schemaOf } from '../set-version.js';
import { outwaitOlderReaders, ReadersInTheWay } from './readers.js';

/** The owner has lost the set meanwhile and nothing is projected: then it is better tried again. */
const READERS_WITHIN_MS = 1_000;
/** Whoever reads waits behind the lock that is asked for. */
const LOCK_MS = 250;
const MOST_TRIES = 3;
const PAUSE_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';

export interface Swap {
  readonly liveVersion: string;
  /** Under which the live set is owned while it is swapped. */
  readonly epoch: bigint;
  readonly shadowVersion: string;
  readonly projections: readonly AnyProjection[];
  /** Both sets stand here. */
  readonly position: Position;
  /**
   * Whether these are all the tables of the set. Then what the fold parked takes the place of what is parked. Of a part
   * it is parked as well: the other tables have applied it, and when it is retried their guards pass over that.
   */
  readonly isWhole: boolean;
}

/**
 * Puts the tables of the shadow set in the place of the live ones. The caller owns both sets, so nothing writes to
 * either, and both stand at the same position. Throws `ReadersInTheWay`, `Fenced`, or what Postgres says; then nothing
 * was swapped.
 */
export async function swapTables(client: pg.ClientBase, swap: Swap): Promise<void> {
  await outwaitOlderReaders(client, READERS_WITHIN_MS);
  for (let tries = 1; !(await trySwap(client, swap)); tries += 1) {
    if (tries === MOST_TRIES) throw new ReadersInTheWay('locks on their tables');
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** False when a reader holds one of the tables. */
async function trySwap(client: pg.ClientBase, swap: Swap): Promise<boolean> {
  const [live, shadow] = [schemaOf(swap.liveVersion), schemaOf(swap.shadowVersion)];
  const old = `${shadow}_old`;
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
    await holdBoth(client, swap);
    await client.query(`CREATE SCHEMA ${old}`);
    for (const { table } of swap.projections) {
      await client.query(`ALTER TABLE ${live}.${table.name} SET SCHEMA ${old}`);
      await client.query(`ALTER TABLE ${shadow}.${table.name} SET SCHEMA ${live}`);
    }
    await client.query(`DROP SCHEMA ${old} CASCADE`);
    await (swap.isWhole ? replaceParked : addParked)(client, swap.shadowVersion, swap.liveVersion);
    await client.query('COMMIT');
    return true;
  } catch (error) {
    await client.query('ROLLBACK');
    if (error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

async function holdBoth(client: pg.ClientBase, swap: Swap): Promise<void> {
  const held = await client.query(
    'SELECT 1 FROM rollcall.projection_sets WHERE version = $1 AND epoch = $2 FOR UPDATE',
    [swap.liveVersion, swap.epoch.toString()],
  );
  if (held.rowCount !== 1) throw new Fenced();
  for (const version of [swap.liveVersion, swap.shadowVersion]) {
    const found = await client.query<{ position: string }>(
      `SELECT position FROM ${schemaOf(version)}.checkpoint`,
    );
    const position = found.rows[0]?.position;
    if (position !== swap.position.toString())
      throw new Error(`set ${version} stands at ${position ?? 'nothing'}, not at ${swap.position}`);
  }
}
