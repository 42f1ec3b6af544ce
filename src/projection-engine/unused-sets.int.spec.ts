import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import pg from 'pg';
import { type PostgresProcess, startPostgres } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { until } from '../../test/support/until.js';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { Ownership } from './ownership.js';
import { prepareSet } from './set-schema.js';
import { schemaOf } from './set-version.js';
import { dropUnusedSets } from './unused-sets.js';

const directory = tempDirectory('unused-sets');
const OWN = '0000000000';
let postgres: PostgresProcess;
let database: Database;
let client: pg.Client;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  await migrate(postgres.url);
  client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  database = new Database(postgres.url, 1);
});

beforeEach(async () => {
  for (const schema of await schemas()) await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.query('TRUNCATE rollcall.projection_sets, rollcall.parked_streams');
  await setOf(OWN);
});

afterAll(async () => {
  await client.end();
  await database.close();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function setOf(version: string): Promise<void> {
  await prepareSet(postgres.url, version, [], { id: 'log', head: () => Promise.resolve(0n) });
  await client.query(`UPDATE ${schemaOf(version)}.checkpoint SET committed_at = now() - interval '25 hours'`);
}

async function owned(version: string, epoch: number, ago: string): Promise<void> {
  await client.query(
    'INSERT INTO rollcall.projection_sets VALUES ($1, NULL, $2, clock_timestamp() - $3::interval)',
    [version, epoch, ago],
  );
}

async function schemas(): Promise<string[]> {
  const { rows } = await client.query<{ nspname: string }>(
    `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall\\_set\\_%' ORDER BY 1`,
  );
  return rows.map(({ nspname }) => nspname);
}

it('a set that nobody has owned for a day is dropped, and its next owner has a higher epoch than its last', async () => {
  await setOf('aaaaaaaaaa');
  await owned('aaaaaaaaaa', 7, '25 hours');
  await setOf('bbbbbbbbbb');
  await owned('bbbbbbbbbb', 3, '23 hours');
  expect(await dropUnusedSets(postgres.url, OWN)).toEqual(['aaaaaaaaaa']);
  expect(await schemas()).toEqual([schemaOf(OWN), schemaOf('bbbbbbbbbb')]);
  expect(await new Ownership(database, 'aaaaaaaaaa', 'next').acquire()).toBe(8n);
});

it('one whose server died before it owned it is dropped a day after it was made', async () => {
  await setOf('aaaaaaaaaa');
  await setOf('bbbbbbbbbb');
  await client.query(`UPDATE ${schemaOf('bbbbbbbbbb')}.checkpoint SET committed_at = now()`);
  expect(await dropUnusedSets(postgres.url, OWN)).toEqual(['aaaaaaaaaa']);
});

it('what was cut short is done by the next look', async () => {
  await setOf('aaaaaaaaaa');
  await owned('aaaaaaaaaa', 7, '25 hours');
  await client.query('BEGIN');
  await client.query(`SELECT 1 FROM ${schemaOf('aaaaaaaaaa')}.checkpoint`);
  const cut = dropUnusedSets(postgres.url, OWN).catch(() => 'cut');
  await until('the drop waits', async () => {
    const ended = await database.query(
      'cut',
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'rollcall-migrate' AND wait_event_type = 'Lock' AND query LIKE 'DROP SCHEMA%'`,
    );
    return ended.length > 0;
  });
  expect(await cut).toBe('cut');
  await client.query('COMMIT');
  expect(await dropUnusedSets(postgres.url, OWN)).toEqual(['aaaaaaaaaa']);
});
