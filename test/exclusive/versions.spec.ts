import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type Forest, mixedPosts, plantForest, postAll } from '../support/chaos/burst.js';
import { allAnswers } from '../support/chaos/answers.js';
import { query } from '../support/chaos/read-models.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import { buildWithAnotherSet, type PatchedBuild } from '../support/process/patched-build.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

let stack: ExclusiveStack;
let newBuild: PatchedBuild;
let old: ServerProcess;
let forest: Forest;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  newBuild = buildWithAnotherSet();
  old = await stack.startServer();
  forest = await plantForest(old.url, 2, 3);
  await postAll(old.url, mixedPosts(forest, 150));
});

afterAll(async () => {
  await stack.dispose();
  newBuild.remove();
});

const startNew = (): Promise<ServerProcess> => stack.startServer({ script: newBuild.server });

async function schemas(): Promise<string[]> {
  const { rows } = await query(stack.databaseUrl, (client) =>
    client.query<{ nspname: string }>(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall_set_%'`),
  );
  return rows.map(({ nspname }) => nspname).sort();
}

async function say(node: ServerProcess, text: string): Promise<string> {
  const answer = await api(node.url).post(`/v1/sessions/${forest.children[0] ?? ''}/events`, {
    type: 'external_assistant_message',
    data: { agent: 'coder', text },
  });
  expect([answer.status, answer.headers.get('rollcall-projected')]).toEqual([202, null]);
  return answer.headers.get('rollcall-position') ?? '';
}

async function preview(node: ServerProcess, position: string): Promise<unknown> {
  const path = `/v1/sessions/${forest.roots[0] ?? ''}/child_sessions?limit=1000`;
  const headers = { 'rollcall-min-position': position };
  const list = await api(node.url).get<{ data: JsonObject[] }>(path, { headers });
  return list.body.data.find(({ id }) => id === forest.children[0])?.['last_message_preview'];
}

it('a build with another set fills it beside the old one, which serves and writes on; either reads what the other wrote', async () => {
  const before = await schemas();
  expect(before).toHaveLength(1);
  const fresh = await startNew();
  await until('the new build is ready', async () => (await api(fresh.url).get('/health')).status === 200, {
    within: 30_000,
  });
  expect(await schemas()).toHaveLength(2);

  const byOld = unique('by-old');
  expect(await preview(fresh, await say(old, byOld))).toBe(byOld);
  const byNew = unique('by-new');
  const position = await say(fresh, byNew);
  expect(await preview(old, position)).toBe(byNew);
  expect(await allAnswers(fresh.url, position)).toEqual(await allAnswers(old.url, position));

  await old.end('SIGTERM');
  const meanwhile = unique('meanwhile');
  const last = await say(fresh, meanwhile);
  await fresh.end('SIGTERM');
  old = await stack.startServer();
  expect(await preview(old, last)).toBe(meanwhile);
});

it('a set that no build used for a day is dropped, the own one and one of an hour ago are not', async () => {
  const both = await schemas();
  expect(both).toHaveLength(2);
  await old.end('SIGTERM');
  const age = (interval: string): Promise<unknown> =>
    query(stack.databaseUrl, (client) =>
      client.query(`UPDATE rollcall.projection_sets SET renewed_at = clock_timestamp() - $1::interval`, [
        interval,
      ]),
    );
  await age('23 hours');
  old = await stack.startServer();
  await say(old, unique('kept'));
  expect(await schemas()).toEqual(both);
  await old.end('SIGTERM');
  await age('25 hours');
  old = await stack.startServer();
  await until('the unused set is dropped', async () => (await schemas()).length === 1);
  await say(old, unique('still'));
});
