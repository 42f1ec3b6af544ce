import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
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
import { encodeEvent } from '../../event-store/encode.js';
import { EventLog } from '../../event-store/event-log.js';
import { StreamNames } from '../../event-store/stream-names.js';
import { newUuid } from '../../uuid.js';
import { EventReader } from '../event-reader.js';
import { Ownership } from '../ownership.js';
import { PostgresSet } from '../postgres-set.js';
import { schemaOf } from '../set-version.js';
import { Fenced } from '../set-writer.js';
import { FILL_LIMITS } from './set-filler.js';
import { ShadowSet, ShadowSetInUse, type ShadowSetOptions } from './shadow-set.js';

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

function open(options: Partial<ShadowSetOptions> = {}): Promise<ShadowSet> {
  const names = options.names ?? new StreamNames('rollcall.');
  return ShadowSet.open({
    url: postgres.url,
    log,
    reader: new EventReader(createEventRegistry(), names),
    names,
    projections: projectionSet,
    version,
    logId: 'log',
    parked: new Map(),
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...options,
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
  const first = open({ afresh: true });
  await until('the drop waits', async () => (await locksAwaited()) > 0);

  await expect(open()).rejects.toThrow(ShadowSetInUse);
  await client.query('COMMIT');
  await (await first).drop();
  expect(await exists()).toBe(false);
}, 30_000);

it('cancelled while another process is at it, it waits no longer', async () => {
  const first = await open();
  const reason = new Error('enough');
  await expect(open({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const cancelled = new AbortController();
  const second = open({ signal: cancelled.signal });
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

it('takes the careful way once for one value that Postgres refuses, however much comes after it', async () => {
  const careful = jest.spyOn(PostgresSet.prototype, 'connect');
  const names = new StreamNames(`${version}.`);
  await appendItems(names.session('a'), 1, randomBytes(9_000).toString('base64'));
  for (let index = 0; index < 30; index += 1) await appendItems(names.session('b'), 20, `item-${index}`);
  const set = await open({ names, limits: { ...FILL_LIMITS, batchEvents: 20, appendBytes: 1 } });
  await set.fillTo((await log.head()) ?? 0n);
  expect(set.parked.map(({ stream }) => stream)).toEqual([names.session('a')]);
  const rows = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${schemaOf(version)}.session_items`,
  );
  await set.drop();
  expect(rows.rows).toEqual([{ count: 600 }]);
  expect(careful).toHaveBeenCalledTimes(1);
});

const revisions = new Map<string, bigint>();

async function appendItems(stream: string, count: number, name: string): Promise<void> {
  const registry = createEventRegistry();
  const events = Array.from({ length: count }, (_, index) => {
    const data = {
      item_id: `${name}-${index}`,
      response_id: 'resp',
      item_type: 'message',
      payload: { role: 'user', content: [] },
      created_by: null,
    };
    const id = newUuid();
    return encodeEvent(
      registry,
      { type: 'ItemAppended', data },
      { ...ORIGIN, id, correlationId: id, causationId: id },
    );
  });
  const result = await log.append(stream, events, revisions.get(stream) ?? 'no-stream');
  if (result.outcome === 'appended') revisions.set(stream, result.revision);
}

const ORIGIN = {
  actor: 'anonymous',
  occurredAt: 0,
  lineage: { root_id: 'r', ancestor_ids: [] },
  command: null,
};

async function locksAwaited(): Promise<number> {
  const found = await client.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND locktype = 'relation'",
  );
  return found.rows[0]?.count ?? 0;
}
