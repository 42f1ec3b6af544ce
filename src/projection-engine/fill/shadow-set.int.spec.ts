import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { projectionSet } from '../../../projections/projection-set.js';
import {
  type EventStoreProcess,
  startEventStore,
} from '../../../test/support/process/event-store-process.js';
import { type PostgresProcess, startPostgres } from '../../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../../test/support/run/run-directory.js';
import { until } from '../../../test/support/until.js';
import { Database } from '../../database/database.js';
import { migrate } from '../../database/migrate.js';
import { createEventRegistry } from '../../event-store/catalogue.js';
import { EventLog } from '../../event-store/event-log.js';
import { StreamNames } from '../../event-store/stream-names.js';
import { EventReader } from '../event-reader.js';
import { Ownership } from '../ownership.js';
import { schemaOf } from '../set-version.js';
import { Fenced } from '../set-writer.js';
import { ShadowSet, ShadowSetInUse } from './shadow-set.js';

const directory = tempDirectory('shadow-set');
let postgres: PostgresProcess;
let node: EventStoreProcess;
let log: EventLog;
let client: pg.Client;
let version: string;

beforeAll(async () => {
  [postgres, node] = await Promise.all([
    startPostgres(join(directory, 'postgres')),
    startEventStore(join(directory, 'eventstore')),
  ]);
  await migrate(postgres.url);
  log = new EventLog(node.url);
  client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
});

beforeEach(() => {
  version = randomBytes(5).toString('hex');
});

afterAll(async () => {
  await client.end();
  await log.close();
  await Promise.all([postgres.stop(), node.end('SIGTERM')]);
  rmSync(directory, { recursive: true, force: true });
});

function open(afresh = false, signal = new AbortController().signal): Promise<ShadowSet> {
  const names = new StreamNames('rollcall.');
  return ShadowSet.open({
    url: postgres.url,
    log,
    reader: new EventReader(createEventRegistry(), names),
    names,
    projections: projectionSet,
    version,
    logId: 'log',
    parked: new Map(),
    signal,
    onProgress: () => undefined,
    afresh,
  });
}

async function exists(): Promise<boolean> {
  const found = await client.query<{ found: boolean }>(
    `SELECT to_regclass('${schemaOf(version)}.sessions') IS NOT NULL AS found`,
  );
  return found.rows[0]?.found === true;
}

it('is held by the process that opens it, however long it takes to clear what was there', async () => {
  await (await open()).close();
  await client.query('BEGIN');
  await client.query(`SELECT 1 FROM ${schemaOf(version)}.sessions`);
  const first = open(true);
  await until('the drop waits', async () => (await locksAwaited()) > 0);

  await expect(open()).rejects.toThrow(ShadowSetInUse);
  await client.query('COMMIT');
  await (await first).drop();
  expect(await exists()).toBe(false);
}, 30_000);

it('cancelled while another process is at it, it waits no longer', async () => {
  const first = await open();
  const reason = new Error('enough');
  await expect(open(false, AbortSignal.abort(reason))).rejects.toBe(reason);
  const cancelled = new AbortController();
  const second = open(false, cancelled.signal);
  cancelled.abort(reason);
  await expect(second).rejects.toBe(reason);
  await first.drop();
});

it('drops nothing that another process has taken over', async () => {
  const set = await open();
  const database = new Database(postgres.url, 1);
  await new Ownership(database, version, 'another').seize();
  await database.close();

  await expect(set.drop()).rejects.toThrow(Fenced);
  expect(await exists()).toBe(true);
});

async function locksAwaited(): Promise<number> {
  const found = await client.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND locktype = 'relation'",
  );
  return found.rows[0]?.count ?? 0;
}
