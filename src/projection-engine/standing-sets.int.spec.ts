import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import pg from 'pg';
import { type PostgresProcess, startPostgres } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { Ownership } from './ownership.js';
import { ForeignLog, prepareSet } from './set-schema.js';
import { schemaOf } from './set-version.js';
import { checkLog, dropForeignSets, ForeignSetInUse } from './standing-sets.js';

const directory = tempDirectory('standing-sets');
const HEAD = 600n;
const log = { id: 'log', head: () => Promise.resolve(HEAD) };
let postgres: PostgresProcess;
let client: pg.Client;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  await migrate(postgres.url);
  client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
});

beforeEach(async () => {
  for (const schema of await schemas()) await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.query('TRUNCATE rollcall.projection_sets, rollcall.parked_streams, rollcall.stream_snapshots');
});

afterAll(async () => {
  await client.end();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Gives the version of a set of any build that stands there. */
async function setAt(position: bigint, { of = 'log', suffix = '' } = {}): Promise<string> {
  const version = `${randomBytes(5).toString('hex')}${suffix}`;
  await prepareSet(postgres.url, version, [], { id: of, head: log.head });
  await client.query(`UPDATE ${schemaOf(version)}.checkpoint SET position = $1`, [position.toString()]);
  return version;
}

async function snapshotAt(position: bigint, of = 'log'): Promise<void> {
  const stream = `stream ${of} ${position}`;
  const text = 'INSERT INTO rollcall.stream_snapshots VALUES ($1, $2, 1, 0, $3, $4)';
  await client.query(text, [stream, of, position.toString(), '{}']);
}

async function snapshots(): Promise<string[]> {
  const { rows } = await client.query<{ stream: string }>(
    'SELECT stream FROM rollcall.stream_snapshots ORDER BY 1',
  );
  return rows.map(({ stream }) => stream);
}

async function schemas(): Promise<string[]> {
  const { rows } = await client.query<{ nspname: string }>(
    `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall\\_set\\_%'`,
  );
  return rows.map(({ nspname }) => nspname).sort();
}

const drop = (): Promise<void> => dropForeignSets(postgres.url, log, new AbortController().signal);

describe('a log is refused', () => {
  it('that has lost what the set of another build holds', async () => {
    await setAt(550n);
    await setAt(1_000n);
    await expect(checkLog(postgres.url, log)).rejects.toThrow(ForeignLog);
  });

  it('that is not the one from which another build has filled its set', async () => {
    await setAt(3n, { of: 'other' });
    await expect(checkLog(postgres.url, log)).rejects.toThrow('belong to log other, this is log log');
  });

  it('but not for what a rebuild or an audit has left', async () => {
    await setAt(600n);
    await setAt(1_000n, { suffix: '_audit' });
    await setAt(1_000n, { of: 'other', suffix: '_rebuild_0123ab' });
    await expect(checkLog(postgres.url, log)).resolves.toBeUndefined();
  });
});

it('folded streams that the log does not hold are forgotten, the others are not', async () => {
  for (const [position, of] of [
    [600n, 'log'],
    [601n, 'log'],
    [5n, 'other'],
  ] as const)
    await snapshotAt(position, of);
  await checkLog(postgres.url, log);
  expect(await snapshots()).toEqual(['stream log 600']);
});

describe('dropping what belongs to another log', () => {
  it('drops also unfinished work and all folded streams, and leaves what belongs to this one', async () => {
    const good = await setAt(550n);
    const beyond = await setAt(1_000n);
    await setAt(3n, { of: 'other' });
    await setAt(5n, { suffix: '_rebuild_0123ab' });
    await snapshotAt(5n);
    await client.query(
      `INSERT INTO rollcall.projection_sets VALUES ($1, 'gone', 7, clock_timestamp() - interval '1 minute')`,
      [beyond],
    );
    await drop();
    expect([await schemas(), await snapshots()]).toEqual([[schemaOf(good)], []]);
    await checkLog(postgres.url, log);
    const epochs = await client.query<{ epoch: string }>('SELECT epoch FROM rollcall.projection_sets');
    expect(epochs.rows).toEqual([{ epoch: '8' }]);
  });

  it('drops nothing when all is of this log', async () => {
    await setAt(550n);
    await setAt(5n, { suffix: '_rebuild_0123ab' });
    await snapshotAt(5n);
    await drop();
    expect([(await schemas()).length, await snapshots()]).toEqual([2, ['stream log 5']]);
  });

  it('drops nothing while a server uses one of them: the log may be the wrong one', async () => {
    const used = await setAt(1_000n);
    await snapshotAt(5n);
    const database = new Database(postgres.url, 1);
    const ownership = new Ownership(database, used, 'server');
    const epoch = await ownership.seize();
    const renewals = setInterval(() => void ownership.renew(epoch, null), 500);
    await expect(drop()).rejects.toThrow(ForeignSetInUse);
    clearInterval(renewals);
    expect([await schemas(), await snapshots()]).toEqual([[schemaOf(used)], ['stream log 5']]);
    await database.close();
  });
});
