import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { postAll } from '../support/chaos/burst.js';
import { query, setSchema } from '../support/chaos/read-models.js';
import { plantLine, plantTree, setToWork } from '../support/chaos/subtree.js';
import { readWholeLog } from '../support/chaos/whole-log.js';
import { control } from '../support/control.js';
import type { StoredEvent } from '../support/event-store.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

let stack: ExclusiveStack;
let owner: ServerProcess;
let standBy: ServerProcess;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  owner = await stack.startServer();
  standBy = await stack.startServer();
});

afterAll(() => stack.dispose());

const remove = (node: ServerProcess, id: string, headers: Record<string, string> = {}) =>
  api(node.url).delete(`/v1/sessions/${id}`, { headers });

/** What the log says of each session below: how often it was born and how often deleted. */
function livesBelow(log: readonly StoredEvent[], root: string): Record<string, [number, number]> {
  const lives: Record<string, [number, number]> = {};
  for (const { type, stream, metadata } of log) {
    const isBelow = (metadata['ancestor_ids'] as string[] | undefined)?.includes(root) ?? false;
    if (!isBelow || (type !== 'SessionSpawned' && type !== 'SessionDeleted')) continue;
    const life = (lives[stream] ??= [0, 0]);
    life[type === 'SessionSpawned' ? 0 : 1] += 1;
  }
  return lives;
}

const allEnded = (lives: Record<string, [number, number]>): [string, [number, number]][] =>
  Object.entries(lives).map(([stream]) => [stream, [1, 1]]);

it('a node that dies in the middle of its cascade leaves it to the owner', async () => {
  const tree = await plantTree(standBy.url, 6, 1);
  await control(standBy.controlSocket).fault('before-cascade-step', 'exit', 3);
  expect(await remove(standBy, tree.root).catch(() => null)).toBeNull();
  await standBy.exited;
  const lives = livesBelow(await expectAgreement(stack), tree.root);
  expect(Object.keys(lives)).toHaveLength(6);
  expect(Object.entries(lives)).toEqual(allEnded(lives));
  const health = await api(owner.url).get<{ obligations: JsonObject }>('/health');
  expect(health.body.obligations).toMatchObject({ owed: 0, oldest_owed_seconds: null, failing: 0 });
  expect(health.body.obligations['met']).toBeGreaterThan(0);
  standBy = await stack.startServer();
});

it('no child survives a deleted parent, however many are spawned meanwhile on two nodes', async () => {
  const tree = await plantTree(owner.url, 3, 2);
  const parents = [tree.root, ...tree.below];
  const posts = Array.from({ length: 150 }, (_, n) => ({
    key: unique('race'),
    path: '/v1/sessions',
    body: { parent_session_id: parents[(n * 7) % parents.length] ?? '', title: `race:${n}` },
  }));
  const deleting: Promise<unknown>[] = [];
  const onAnswer = (answered: number): void => {
    if (answered === 15 && deleting.length === 0) deleting.push(remove(owner, tree.root));
  };
  const [here, there] = [posts.slice(0, 75), posts.slice(75)];
  const fates = await Promise.all([
    postAll(owner.url, here, { lanes: 8, onAnswer }),
    postAll(standBy.url, there, { lanes: 8, onAnswer }),
  ]);
  await Promise.all(deleting);
  const statuses = fates.flatMap((fate) =>
    [...fate.values()].map((one) => one !== 'unanswered' && one.status),
  );
  expect(statuses.filter((status) => status !== 201 && status !== 404)).toEqual([]);
  expect(new Set(statuses).size).toBe(2);
  const log = await expectAgreement(stack);
  const lives = livesBelow(log, tree.root);
  expect(Object.keys(lives)).toHaveLength(
    tree.below.length + statuses.filter((status) => status === 201).length,
  );
  expect(Object.entries(lives)).toEqual(allEnded(lives));
});

it('both nodes may delete at once, at the top and in the middle', async () => {
  const tree = await plantTree(owner.url, 4, 2);
  const [middle = ''] = tree.below;
  const answers = await Promise.all([
    remove(owner, tree.root),
    remove(standBy, middle),
    remove(standBy, tree.root),
    remove(owner, middle),
  ]);
  expect(answers.map(({ status }) => status).filter((status) => ![200, 202, 404].includes(status))).toEqual(
    [],
  );
  const lives = livesBelow(await expectAgreement(stack), tree.root);
  expect(Object.keys(lives)).toHaveLength(20);
  expect(Object.entries(lives)).toEqual(allEnded(lives));
});

it('a line of 64 levels and a tree of hundreds go as a whole', async () => {
  const line = await plantLine(owner.url, 64);
  const tree = await plantTree(owner.url, 6, 3);
  await setToWork(owner.url, [...line.below.slice(-3), ...tree.below.slice(-20)]);
  for (const { root } of [line, tree]) {
    const body = { type: 'interrupt' };
    expect((await api(owner.url).post(`/v1/sessions/${root}/events`, body)).status).toBe(202);
  }
  await expectAgreement(stack);
  const list = await api(owner.url).get<{ data: JsonObject[] }>('/v1/sessions?limit=1000');
  for (const { root } of [line, tree]) {
    const row = list.body.data.find(({ id }) => id === root);
    expect(row).toMatchObject({ status: 'idle', pending_elicitations_count: 0 });
    expect([200, 202]).toContain((await remove(owner, root)).status);
  }
  const log = await expectAgreement(stack);
  for (const { root, below } of [line, tree]) {
    const lives = livesBelow(log, root);
    expect(Object.keys(lives)).toHaveLength(below.length);
    expect(Object.entries(lives)).toEqual(allEnded(lives));
  }
});

it('a child whose birth was cut off is born and goes with its parent', async () => {
  const { root } = await plantTree(standBy.url, 1, 1);
  await control(standBy.controlSocket).fault('between-spawn-and-birth', 'exit');
  const cut = api(standBy.url).post('/v1/sessions', { parent_session_id: root, title: 'cut:off' });
  expect(await cut.catch(() => null)).toBeNull();
  await standBy.exited;
  expect([200, 202]).toContain((await remove(owner, root)).status);
  const lives = livesBelow(await expectAgreement(stack), root);
  expect(Object.keys(lives)).toHaveLength(2);
  expect(Object.entries(lives)).toEqual(allEnded(lives));
  standBy = await stack.startServer();
});

it('F127: what is deleted stays deleted when the read models are lost and filled again', async () => {
  const gone = await plantTree(owner.url, 2, 2);
  const kept = await plantTree(owner.url, 2, 1);
  await setToWork(owner.url, [...gone.below, ...kept.below]);
  await remove(owner, gone.root);
  await remove(owner, kept.below[0] ?? '');
  const answers = async (node: ServerProcess): Promise<unknown[]> => {
    const paths = [
      '/v1/sessions?kind=any&limit=1000',
      ...[gone, kept].flatMap(({ root, below }) =>
        [root, ...below].flatMap((id) => [`/v1/sessions/${id}`, `/v1/sessions/${id}/child_sessions`]),
      ),
    ];
    return Promise.all(
      paths.map(async (path) => {
        const { status, text } = await api(node.url).get(path);
        return [path, status, text];
      }),
    );
  };
  await expectAgreement(stack);
  const before = await answers(owner);
  await Promise.all([owner.end('SIGTERM'), standBy.end('SIGTERM')]);
  const schema = await setSchema(stack.databaseUrl);
  await query(stack.databaseUrl, (client) => client.query(`DROP SCHEMA ${schema} CASCADE`));
  const logBefore = await readWholeLog(stack.eventStoreUrl);
  owner = await stack.startServer();
  standBy = await stack.startServer();
  await until(
    'the read models to be filled',
    async () => (await api(owner.url).get('/health')).status === 200,
  );
  expect(await answers(owner)).toEqual(before);
  // Nothing that was owed and met in the log is done again by what is filled from it.
  expect(await expectAgreement(stack)).toEqual(logBefore);
});
