import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { query } from '../support/chaos/read-models.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import { postAll, plantForest } from '../support/chaos/burst.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';

jest.setTimeout(120_000);

const MANY = 200;
/** The tables that a list of children could be read from; the node's own housekeeping touches none of them. */
const TABLES = 'sessions|child_session_summary|session_rollups|session_items|pending_elicitations|agents';

let stack: ExclusiveStack;
let server: ServerProcess;
let few: string;
let many: string;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  await run(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
  await stack.stopPostgres();
  await stack.bringPostgres();
  await run('CREATE EXTENSION pg_stat_statements');
  server = await stack.startServer();
  const forest = await plantForest(server.url, 2, 2);
  [few = '', many = ''] = forest.roots;
  const posts = Array.from({ length: MANY - 2 }, (_, index) => ({
    key: unique('key'),
    path: '/v1/sessions',
    body: { parent_session_id: many, title: `child:${index}` },
  }));
  await postAll(server.url, posts);
});

afterAll(() => stack.dispose());

async function run(sql: string): Promise<JsonObject[]> {
  return query(stack.databaseUrl, async (client) => (await client.query<JsonObject>(sql)).rows);
}

/** Of the read models alone: looks at the checkpoint come by the clock, and not by the event. */
async function statements(): Promise<JsonObject[]> {
  return run(
    `SELECT calls::int AS calls, query FROM pg_stat_statements WHERE query ~ 'rollcall_set_[0-9a-f]+\\.(${TABLES})\\y'`,
  );
}

async function statementsOf(path: string): Promise<{ rows: number; statements: JsonObject[] }> {
  await run('SELECT pg_stat_statements_reset()');
  const list = await api(server.url).get<{ data: JsonObject[] }>(path);
  expect(list.status).toBe(200);
  return { rows: list.body.data.length, statements: await statements() };
}

it.each([
  ['two children', () => few, 2],
  ['two hundred', () => many, MANY],
] as const)('a list of %s is one statement', async (_what, parent, rows) => {
  const found = await statementsOf(`/v1/sessions/${parent()}/child_sessions?limit=1000`);
  expect(found).toEqual({ rows, statements: [expect.objectContaining({ calls: 1 })] });
});

it('F122: a burst costs so many statements an event, however many nodes there are', async () => {
  const nodes = [server, await stack.startServer(), await stack.startServer()];
  const messages = Array.from({ length: 300 }, (_, index) => ({
    key: unique('key'),
    path: `/v1/sessions/${few}/events`,
    body: { type: 'external_assistant_message', data: { agent: 'a', text: `message ${index}` } },
  }));
  await run('SELECT pg_stat_statements_reset()');
  const fates = await postAll(server.url, messages, { lanes: 4 });
  const positions = [...fates.values()].map((fate) =>
    fate !== 'unanswered' && fate.status === 202
      ? BigInt(fate.headers.get('rollcall-position') ?? '0')
      : null,
  );
  expect(positions).not.toContain(null);
  const calls = (await statements()).reduce((sum, statement) => sum + Number(statement['calls']), 0);
  expect(calls).toBeGreaterThan(0);
  expect(calls / messages.length).toBeLessThan(2);

  // The last state is what every node shows.
  const newest = positions.reduce((one, other) => ((one ?? 0n) > (other ?? 0n) ? one : other));
  for (const { url } of nodes) {
    const headers = { 'rollcall-min-position': String(newest) };
    const items = await api(url).get<{ data: JsonObject[] }>(`/v1/sessions/${few}/items?limit=1000`, {
      headers,
    });
    expect([items.status, items.body.data.length]).toEqual([200, messages.length]);
  }
});
