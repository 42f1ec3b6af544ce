import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { startPostgres, type PostgresProcess } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { until } from '../../test/support/until.js';
import { Database } from '../database/database.js';
import { CheckpointWatch } from './checkpoint-watch.js';
import { prepareSet } from './set-schema.js';
import { CHECKPOINT_CHANNEL } from './batch-statement.js';
import { schemaOf } from './set-version.js';

const VERSION = 'watched';
const directory = tempDirectory('watch');
let postgres: PostgresProcess;
let database: Database;
let watch: CheckpointWatch;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  database = new Database(postgres.url);
  await prepareSet(postgres.url, VERSION, [], { id: 'log', head: () => Promise.resolve(0n) });
});

afterAll(async () => {
  await database.close();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  await commit(5n);
  watch = new CheckpointWatch(database, VERSION);
  await watch.start();
});

afterEach(() => watch.stop());

async function commit(position: bigint): Promise<void> {
  await database.pool.query(`UPDATE ${schemaOf(VERSION)}.checkpoint SET position = $1`, [
    position.toString(),
  ]);
}

const notify = (payload: string): Promise<unknown> =>
  database.pool.query('SELECT pg_notify($1, $2)', [CHECKPOINT_CHANNEL, payload]);

/** The backend that listens, once there is one other than `old`. */
function listening(old = 0): Promise<number> {
  return until('the watch to listen', async () => {
    const found = await database.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'rollcall-watch' AND query LIKE 'LISTEN%'`,
    );
    return found.rows.map(({ pid }) => pid).find((pid) => pid !== old);
  });
}

describe('how far the read models have come, as one node knows it', () => {
  it('is read at the start, and what is reached is not waited for', async () => {
    expect(watch.position).toBe(5n);
    expect(await watch.waitFor(5n, 0)).toBe(true);
    expect(await watch.waitFor(6n, 0)).toBe(false);
  });

  it('is told by the engine of the same node, and never steps back', async () => {
    const waits = [watch.waitFor(6n, 5_000), watch.waitFor(7n, 5_000)];
    watch.advance(7n);
    watch.advance(6n);
    expect(await Promise.all(waits)).toEqual([true, true]);
    expect(watch.position).toBe(7n);
  });

  it('is polled for when nobody tells, however long it takes', async () => {
    const reached = watch.waitFor(9n, 5_000);
    await commit(9n);
    expect(await reached).toBe(true);
  });

  it('is heard of by notification: a hint that belongs to this set alone', async () => {
    await listening();
    await notify('another:50');
    await notify('');
    await notify(`${VERSION}:12`);
    await until('the notification', () => watch.position === 12n, { within: 900 });
  });

  it('lets go of who waits when it is stopped', async () => {
    const reached = watch.waitFor(99n, 60_000);
    await watch.stop();
    expect(await reached).toBe(false);
  });

  it('listens again after the connection was cut', async () => {
    const backend = await listening();
    await database.pool.query('SELECT pg_terminate_backend($1)', [backend]);
    await listening(backend);
    await notify(`${VERSION}:12`);
    await until('the notification', () => watch.position === 12n, { within: 900 });
  });
});
