import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { type AnyProjection, projectionSet } from '../../../projections/projection-set.js';
import type { ProjectedEvent } from '../../../projections/projection.js';
import { rowsOf } from '../../../test/support/audit/held-audit.js';
import { rollcallAudit } from '../../../test/support/audit/rollcall-audit.js';
import { mixedPosts, plantForest, postAll } from '../../../test/support/chaos/burst.js';
import { streamOf, writeItems } from '../../../test/support/chaos/poison.js';
import { query } from '../../../test/support/chaos/read-models.js';
import { ExclusiveStack } from '../../../test/support/exclusive-stack.js';
import { api } from '../../../test/support/http.js';
import { runProcess } from '../../../test/support/process/started-process.js';
import type { ServerProcess } from '../../../test/support/process/server-process.js';
import { unique } from '../../../test/support/unique.js';
import { until } from '../../../test/support/until.js';
import { createEventRegistry } from '../../event-store/catalogue.js';
import { EventLog } from '../../event-store/event-log.js';
import { knownLogIdentity } from '../../event-store/log-identity.js';
import { StreamNames } from '../../event-store/stream-names.js';
import { EventReader } from '../event-reader.js';
import { SET_SCHEMA, SET_VERSION } from '../this-set.js';
import { outwaitOlderReaders } from './readers.js';
import { rebuild, type RebuildOptions, type RebuildOutcome } from './rebuild.js';

jest.setTimeout(120_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let log: EventLog;
let session: string;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  log = new EventLog(stack.eventStoreUrl);
});

beforeEach(async () => {
  const forest = await plantForest(server.url, 1, 2);
  await postAll(server.url, mixedPosts(forest, 30));
  session = forest.children[0] ?? '';
});

afterEach(dropRebuilds);

afterAll(async () => {
  await log.close();
  await stack.dispose();
});

const names = new StreamNames('rollcall.');
const registry = createEventRegistry();

/** Rebuilds the items by a projector that throws on an item with this text, as that of a broken build would. */
async function rebuildItems(bad: string, options: Partial<RebuildOptions> = {}): Promise<RebuildOutcome> {
  const isBad = (event: ProjectedEvent): boolean => JSON.stringify(event.event.data).includes(bad);
  const broken = (projection: AnyProjection): AnyProjection => ({
    ...projection,
    apply: (event, rows) => {
      if (isBad(event)) throw new Error('indigestible');
      projection.apply(event, rows);
    },
  });
  return rebuild({
    databaseUrl: stack.databaseUrl,
    log,
    reader: new EventReader(registry, names),
    names,
    logId: (await knownLogIdentity(log, registry, names)) ?? '',
    setVersion: SET_VERSION,
    set: projectionSet,
    chosen: projectionSet.filter(({ name }) => name === 'session-items').map(broken),
    build: 'broken',
    evenIfParked: false,
    signal: new AbortController().signal,
    onBegin: () => undefined,
    onProgress: () => undefined,
    ...options,
  });
}

/** How many items of the session the read models hold. */
async function itemsNow(): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    stack.databaseUrl,
    `SELECT count(*)::int AS count FROM ${SET_SCHEMA}.session_items WHERE session_id = $1`,
    [session],
  );
  return row?.count ?? 0;
}

function parked(): Promise<object[]> {
  const sql = 'SELECT stream, reason FROM rollcall.parked_streams WHERE set_version = $1';
  return rowsOf(stack.databaseUrl, sql, [SET_VERSION]);
}

const itemsOf = (texts: readonly string[]): Promise<void> => writeItems(stack, session, texts);

/** Holds a transaction open during the work, or until it is told to end it. */
async function withReader(
  name: string,
  begin: string,
  work: (end: () => Promise<void>) => Promise<unknown>,
): Promise<void> {
  const reader = new pg.Client({ connectionString: stack.databaseUrl, application_name: name });
  await reader.connect();
  const end = async (): Promise<void> => void (await reader.query('COMMIT'));
  try {
    await reader.query(begin);
    await work(end);
  } finally {
    await reader.end();
  }
}

async function readsForLong(name: string): Promise<boolean> {
  const sql = `SELECT 1 FROM pg_stat_activity
    WHERE application_name = $1 AND xact_start < clock_timestamp() - interval '1 second'`;
  return (await rowsOf(stack.databaseUrl, sql, [name])).length > 0;
}

async function epochNow(): Promise<string | undefined> {
  const sql = 'SELECT epoch FROM rollcall.projection_sets WHERE version = $1';
  return (await rowsOf<{ epoch: string }>(stack.databaseUrl, sql, [SET_VERSION]))[0]?.epoch;
}

const lockWaits = (): Promise<object[]> =>
  rowsOf(stack.databaseUrl, "SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'relation'");

async function dropRebuilds(): Promise<void> {
  await query(stack.databaseUrl, async (client) => {
    const { rows } = await client.query<{ nspname: string }>(
      `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall\\_set\\_%\\_rebuild\\_%'`,
    );
    for (const { nspname } of rows) await client.query(`DROP SCHEMA ${nspname} CASCADE`);
    await client.query("DELETE FROM rollcall.parked_streams WHERE set_version LIKE '%\\_rebuild\\_%'");
  });
}

it('what a rebuild of a part parks is parked in the set, and a retry brings back all of it', async () => {
  const bad = unique('bad');
  const before = await itemsNow();
  await itemsOf(['good', bad, 'after', 'last']);
  await until('the items are there', async () => (await itemsNow()) === before + 4);

  expect(await rebuildItems(bad)).toMatchObject({ kind: 'refused', parked: [{ stream: streamOf(session) }] });
  expect([await itemsNow(), await parked()]).toEqual([before + 4, []]);

  expect(await rebuildItems(bad, { evenIfParked: true })).toMatchObject({ kind: 'swapped' });
  expect(await itemsNow()).toBe(before + 1);
  expect(await parked()).toEqual([{ stream: streamOf(session), reason: 'indigestible' }]);

  const env = { EVENTSTORE_URL: stack.eventStoreUrl, DATABASE_URL: stack.databaseUrl };
  await runProcess('src/cli/main.js', { name: 'retry', args: ['projections', 'retry', '--all'], env });
  await until('the stream is free', async () => (await parked()).length === 0, { within: 30_000 });
  expect(await itemsNow()).toBe(before + 4);
  expect(await rollcallAudit(stack)).toMatchObject({ code: 0 });
});

it('refused for what a broken build parked, it is done by the mended one', async () => {
  const bad = unique('bad');
  const before = await itemsNow();
  await itemsOf([bad, 'after']);
  await until('the items are there', async () => (await itemsNow()) === before + 2);
  expect(await rebuildItems(bad)).toMatchObject({ kind: 'refused' });
  expect(await rebuildItems(bad)).toMatchObject({ kind: 'refused' });

  expect(await rebuildItems(unique('good'), { build: 'mended' })).toMatchObject({
    kind: 'swapped',
    parked: [],
  });
  expect([await itemsNow(), await parked()]).toEqual([before + 2, []]);
  const statistics = `SELECT 1 FROM pg_class WHERE oid = '${SET_SCHEMA}.session_items'::regclass AND reltuples > 0`;
  expect(await rowsOf(stack.databaseUrl, statistics)).toHaveLength(1);
});

describe('while the read models are read for long', () => {
  const ours = `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM ${SET_SCHEMA}.checkpoint`;
  const dump = `BEGIN; LOCK TABLE ${SET_SCHEMA}.session_items IN ACCESS SHARE MODE`;

  it.each([
    ['an audit', 'rollcall-audit', ours],
    ['a dump', 'pg_dump', dump],
  ])('by %s, it waits, and neither the feed nor other readers wait for it', async (_, name, begin) => {
    await withReader(name, begin, async (end) => {
      await until('it has read for long', () => readsForLong(name));
      const epoch = await epochNow();
      const rebuilt = rebuildItems(unique('good'));
      const deadline = performance.now() + 3_000;
      while (performance.now() < deadline) {
        const said = await api(server.url).post(`/v1/sessions/${session}/events`, {
          type: 'external_assistant_message',
          data: { agent: 'coder', text: unique('x') },
        });
        expect([said.status, said.headers.get('rollcall-projected')]).toEqual([202, null]);
        expect(await lockWaits()).toEqual([]);
      }
      expect(await epochNow()).toBe(epoch);
      await end();
      expect(await rebuilt).toMatchObject({ kind: 'swapped' });
    });
  });

  it('in the end it gives up and says who reads', async () => {
    await withReader('pg_dump', dump, async () => {
      await expect(rebuildItems(unique('good'), { patienceMs: 1_000 })).rejects.toThrow(
        /in use all the while \(pg_dump \d+\); nothing was swapped/,
      );
    });
  });

  it('until it is cancelled', async () => {
    await withReader('pg_dump', dump, async () => {
      const reason = new Error('enough');
      const cancelled = new AbortController();
      const rebuilt = rebuildItems(unique('good'), { signal: cancelled.signal });
      setTimeout(() => cancelled.abort(reason), 2_000);
      await expect(rebuilt).rejects.toBe(reason);
    });
  });
});

it('a transaction that sees what is committed is no older reader, however old the oldest writer is', async () => {
  const look =
    "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%xact_start <= $1%' AND pid <> pg_backend_pid()";
  const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1';
  await withReader('somebody', 'BEGIN; SELECT pg_current_xact_id()', () =>
    query(stack.databaseUrl, (client) =>
      withReader('rollcall-old', begin, async (end) => {
        const waited = outwaitOlderReaders(client, 5_000);
        await until('it waits', async () => (await rowsOf(stack.databaseUrl, look)).length > 0);
        await withReader('rollcall-new', begin, async () => {
          await expect(outwaitOlderReaders(client, 100)).rejects.toThrow(/rollcall-new \d+/);
          await end();
          await expect(waited).resolves.toBeUndefined();
        });
      }),
    ),
  );
});

it('a set that cannot be taken from its owner leaves no connection behind', async () => {
  await query(stack.databaseUrl, (client) =>
    client.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON rollcall.projection_sets FOR EACH ROW
        WHEN (NEW.version = '${SET_VERSION}' AND NEW.epoch > OLD.epoch) EXECUTE FUNCTION refuse()`),
  );
  await expect(rebuildItems(unique('good'))).rejects.toThrow('not today');
  const left =
    "SELECT 1 FROM pg_stat_activity WHERE application_name IN ('rollcall-rebuild', 'rollcall-filler')";
  await until('no connection is left', async () => (await rowsOf(stack.databaseUrl, left)).length === 0);
  await query(stack.databaseUrl, (client) =>
    client.query('DROP TRIGGER refuse ON rollcall.projection_sets; DROP FUNCTION refuse'),
  );
});

it('what it parks in the last stretch, when it owns the set already, keeps it from swapping too', async () => {
  const bad = unique('bad');
  const before = await itemsNow();
  const [checkpoint] = await rowsOf<{ position: string }>(
    stack.databaseUrl,
    `SELECT position FROM ${SET_SCHEMA}.checkpoint`,
  );
  await itemsOf([bad]);
  await until('the item is there', async () => (await itemsNow()) === before + 1);
  await server.end('SIGTERM');
  // As if the owner had applied it in the very moment in which the set is taken from it.
  await query(stack.databaseUrl, (client) =>
    client.query(`
      CREATE TABLE moved AS SELECT position FROM ${SET_SCHEMA}.checkpoint;
      UPDATE ${SET_SCHEMA}.checkpoint SET position = ${checkpoint?.position};
      CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE ${SET_SCHEMA}.checkpoint SET position = moved.position FROM moved; RETURN NEW; END $$;
      CREATE TRIGGER move BEFORE UPDATE ON rollcall.projection_sets FOR EACH ROW
        WHEN (NEW.version = '${SET_VERSION}' AND OLD.owner IS NULL) EXECUTE FUNCTION move()`),
  );

  expect(await rebuildItems(bad)).toMatchObject({ kind: 'refused', parked: [{ stream: streamOf(session) }] });
  expect([await itemsNow(), await parked()]).toEqual([before + 1, []]);

  await query(stack.databaseUrl, (client) =>
    client.query('DROP TRIGGER move ON rollcall.projection_sets; DROP FUNCTION move; DROP TABLE moved'),
  );
  server = await stack.startServer();
});
