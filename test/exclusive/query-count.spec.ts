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

async function statementsOf(path: string): Promise<{ rows: number; statements: JsonObject[] }> {
  await run('SELECT pg_stat_statements_reset()');
  const list = await api(server.url).get<{ data: JsonObject[] }>(path);
  expect(list.status).toBe(200);
  const statements = await run(
    `SELECT calls::int AS calls, query FROM pg_stat_statements WHERE query ~ 'rollcall_set_[0-9a-f]+\\.(${TABLES})\\y'`,
  );
  return { rows: list.body.data.length, statements };
}

it.each([
  ['two children', () => few, 2],
  ['two hundred', () => many, MANY],
] as const)('a list of %s is one statement', async (_what, parent, rows) => {
  const found = await statementsOf(`/v1/sessions/${parent()}/child_sessions?limit=1000`);
  expect(found).toEqual({ rows, statements: [expect.objectContaining({ calls: 1 })] });
});
