import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { type AnyProjection, projectionSet } from '../../../projections/projection-set.js';
import type { ProjectedEvent } from '../../../projections/projection.js';
import { rowsOf } from '../../../test/support/audit/held-audit.js';
import { rollcallAudit } from '../../../test/support/audit/rollcall-audit.js';
import { mixedPosts, plantForest, postAll } from '../../../test/support/chaos/burst.js';
import { streamOf, writeItems } from '../../../test/support/chaos/poison.js';
import { query } from '../../../test/support/chaos/read-models.js';
import { ExclusiveStack } from '../../../test/support/exclusive-stack.js';
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

async function dropRebuilds(): Promise<void> {
  await query(stack.databaseUrl, async (client) => {
    const { rows } = await client.query<{ nspname: string }>(
      `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall\\_set\\_%\\_rebuild\\_%'`,
    );
    for (const { nspname } of rows) await client.query(`DROP SCHEMA ${nspname} CASCADE`);
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
  await dropRebuilds();
  server = await stack.startServer();
});
