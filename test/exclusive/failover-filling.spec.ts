import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { expectAgreement } from '../support/chaos/agreement.js';
import { mixedPosts, plantForest, postAll } from '../support/chaos/burst.js';
import { epoch as ownerEpoch } from '../support/chaos/ownership.js';
import { query, setSchema } from '../support/chaos/read-models.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import { type BlackHole, blackHoleBefore } from '../support/process/black-hole.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { until } from '../support/until.js';

/** An owner that is lost while it fills a new set, with rows that are written and not committed. */
jest.setTimeout(120_000);

const TAKEOVER_MS = 5_000;

let stack: ExclusiveStack;
let toPostgres: BlackHole;
let schema: string;
let tables: readonly string[];
let truth: unknown;
const servers = new Set<ServerProcess>();

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  toPostgres = await blackHoleBefore(stack.databaseUrl);
  const server = await start();
  await postAll(server.url, mixedPosts(await plantForest(server.url, 2, 3), 200));
  await expectAgreement(stack);
  schema = await setSchema(stack.databaseUrl);
  const found = await inDatabase<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' AND relname <> 'checkpoint'`,
  );
  tables = found.map(({ name }) => name);
  truth = await rows();
});

afterAll(async () => {
  for (const { child } of servers) child.kill('SIGCONT');
  await stack.dispose();
  await toPostgres.close();
});

const start = async (databaseUrl = stack.databaseUrl): Promise<ServerProcess> => {
  const server = await stack.startServer({ databaseUrl });
  servers.add(server);
  return server;
};

const inDatabase = <Row extends object>(sql: string): Promise<Row[]> =>
  query(stack.databaseUrl, async (client) => (await client.query<Row>(sql)).rows);
const epoch = (): Promise<number> => ownerEpoch(stack.databaseUrl);

/** Every row of every table. */
async function rows(): Promise<Record<string, readonly object[]>> {
  const found = tables.map(async (table) => {
    const sql = `SELECT to_jsonb(t) AS row FROM ${schema}.${table} t ORDER BY to_jsonb(t)::text`;
    return [table, await inDatabase(sql)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** Which transaction wrote what: a row that is written again, with the same values, shows in it. */
async function writers(): Promise<readonly object[]> {
  const each = [...tables, 'checkpoint'].map(
    (table) => `SELECT '${table}' AS what, xmin::text, count(*) FROM ${schema}.${table} GROUP BY 2`,
  );
  return inDatabase(`${each.join(' UNION ALL ')} ORDER BY 1, 2`);
}

const told = async ({ url }: ServerProcess): Promise<unknown> => {
  const { status, body } = await api(url).get('/health');
  return [status, (body['projections'] as JsonObject)['role']];
};

async function toldToBe(node: ServerProcess, role: 'owner' | 'standby'): Promise<void> {
  await until(
    `the node to be ${role}`,
    async () => JSON.stringify(await told(node)) === JSON.stringify([200, role]),
    { within: 20_000 },
  );
}

/** As a build leaves it that is new here. */
async function asNew(): Promise<void> {
  for (const server of servers) await server.end('SIGTERM');
  servers.clear();
  await inDatabase(
    `TRUNCATE ${tables.map((table) => `${schema}.${table}`).join(', ')};
     UPDATE ${schema}.checkpoint SET position = -1, filled = false`,
  );
}

/** Lets the filler come to its last table and no further. Returns what lets it go on. */
async function holdFiller(): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${schema}.obligations IN SHARE MODE`);
  return () => client.end();
}

const filling = (): Promise<object | undefined> =>
  inDatabase(
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'rollcall-filler%' AND wait_event_type = 'Lock'`,
  ).then(([one]) => one);

interface Loss {
  readonly lose: (node: ServerProcess) => void;
  readonly bringBack: ((node: ServerProcess) => void) | null;
}

const losses: readonly [string, Loss][] = [
  ['is killed', { lose: ({ child }) => child.kill('SIGKILL'), bringBack: null }],
  [
    'is stopped',
    { lose: ({ child }) => child.kill('SIGSTOP'), bringBack: ({ child }) => child.kill('SIGCONT') },
  ],
  [
    'is no longer heard by Postgres',
    { lose: () => toPostgres.swallow(), bringBack: () => toPostgres.letThrough() },
  ],
];

it.each(losses)(
  'an owner that %s while it fills a set is followed within 5 s, and the other fills it whole',
  async (_, { lose, bringBack }) => {
    await asNew();
    const goOn = await holdFiller();
    const owner = await start(toPostgres.url);
    await until('the filler to be held', filling);
    const standBy = await start();
    const before = await epoch();

    lose(owner);
    const lost = performance.now();
    await goOn();
    await until('the other node to take over', async () => (await epoch()) > before, { within: TAKEOVER_MS });
    expect(performance.now() - lost).toBeLessThan(TAKEOVER_MS);
    await toldToBe(standBy, 'owner');
    expect(await rows()).toEqual(truth);
    const after = await epoch();
    const written = await writers();

    bringBack?.(owner);
    if (bringBack) await toldToBe(owner, 'standby');
    expect([await epoch(), await writers()]).toEqual([after, written]);
    await expectAgreement(stack);
  },
);
