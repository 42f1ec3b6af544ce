import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest, postAll, type Fate, type Forest, type Post } from '../support/chaos/burst.js';
import { query, setSchema } from '../support/chaos/read-models.js';
import { readWholeLog } from '../support/chaos/whole-log.js';
import { control } from '../support/control.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { roll } from '../support/roll.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

/** Area "restart". */
jest.setTimeout(180_000);

const EXIT_MS = 10_000;

let stack: ExclusiveStack;
let server: ServerProcess;
let forest: Forest;

beforeAll(async () => {
  stack = await ExclusiveStack.start({ durable: true });
  server = await stack.startServer();
  forest = await plantForest(server.url, 1, 1);
});

afterAll(() => stack.dispose());

const health = async (): Promise<number> => (await api(server.url).get('/health')).status;
const posts = (count: number): Post[] =>
  Array.from({ length: count }, () => ({
    key: unique('key'),
    path: `/v1/sessions/${forest.children[0] ?? ''}/events`,
    body: { type: 'external_assistant_message', data: { agent: 'coder', text: unique('text') } },
  }));

it('F078: a prompt that is open when the server dies is counted, listed whole and answered afterwards', async () => {
  const before = roll(server.url);
  const parent = await before.root();
  const child = await before.child(parent, { title: 'a:b' });
  const requestedSchema = { type: 'object', properties: { choice: { type: 'string', enum: ['x', 'y'] } } };
  await before.ask(child.id, { elicitation_id: 'open', message: 'Which one?', requestedSchema });
  await before.ask(child.id, { elicitation_id: 'done', message: 'Sure?' });
  await before.resolve(child.id, 'done', { action: 'accept' });
  const told = (await before.snapshot(child.id)).pending_elicitations;
  await server.end('SIGKILL');
  server = await stack.startServer();

  const after = roll(server.url);
  const { pending_elicitations: prompts } = await after.snapshot(child.id);
  expect(prompts).toEqual(told);
  expect(prompts).toMatchObject([
    { elicitation_id: 'open', params: { message: 'Which one?', requestedSchema } },
  ]);
  expect((await after.row(child)).pending_elicitations_count).toBe(prompts.length);
  expect(await after.prompt(child.id, 'open')).toMatchObject({ status: 'pending', message: 'Which one?' });

  const verdict = { action: 'accept', content: { choice: 'x' } };
  expect((await after.resolve(child.id, 'open', verdict)).status).toBe(202);
  expect(await after.prompt(child.id, 'open')).toEqual({ status: 'resolved' });
  expect((await after.snapshot(child.id)).pending_elicitations).toEqual([]);
  expect((await after.row(child)).pending_elicitations_count).toBe(0);
});

/** Ends every connection that the server has to Postgres, used or not. */
async function terminateConnections(): Promise<number> {
  const { rowCount } = await query(stack.databaseUrl, (client) =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'rollcall%'`,
    ),
  );
  return rowCount ?? 0;
}

const refused = (fates: Map<Post, Fate>): Post[] =>
  [...fates].flatMap(([post, fate]) => {
    if (fate === 'unanswered') throw new Error(`no answer to ${post.key}`);
    if (fate.status === 202) return [];
    expect([fate.status, Number(fate.headers.get('retry-after')) > 0]).toEqual([503, true]);
    return [post];
  });

it('F081: lost connections and an absent Postgres cost refusals, never the process', async () => {
  const { pid } = server;
  for (let round = 0; round < 3; round += 1) {
    expect(await terminateConnections()).toBeGreaterThan(1);
    await until('the node to be healthy', async () => (await health()) === 200, { within: 20_000 });
  }
  const strikes: Promise<unknown>[] = [];
  const load = posts(150);
  const fates = await postAll(server.url, load, {
    lanes: 16,
    onAnswer: (answered) => {
      if (answered === 40) strikes.push(terminateConnections());
      if (answered === 90) strikes.push(stack.stopPostgres());
    },
  });
  await Promise.all(strikes);
  expect(refused(fates).length).toBeGreaterThan(0);
  const idle = await postAll(server.url, posts(3));
  expect(refused(idle)).toHaveLength(3);
  const read = await api(server.url).get(`/v1/sessions/${forest.roots[0] ?? ''}`);
  expect([read.status, Number(read.headers.get('retry-after')) > 0]).toEqual([503, true]);

  await stack.bringPostgres();
  await until('the node to be healthy', async () => (await health()) === 200, { within: 20_000 });
  expect(refused(await postAll(server.url, load))).toEqual([]);
  await expectAgreement(stack);
  expect([server.pid, await Promise.race([server.exited, Promise.resolve('runs')])]).toEqual([pid, 'runs']);
});

it('F082: what follows from an event follows from the log, though the process died right after the append', async () => {
  const title = unique('cut:child');
  const spawn = { parent_session_id: forest.roots[0] ?? '', title };
  const headers = { 'idempotency-key': unique('key') };
  await control(server.controlSocket).fault('after-append', 'exit');
  expect(
    await api(server.url)
      .post('/v1/sessions', spawn, { headers })
      .catch(() => null),
  ).toBeNull();
  expect((await server.exited).signal).toBe('SIGKILL');
  const spawned = async (): Promise<readonly unknown[]> =>
    (await readWholeLog(stack.eventStoreUrl)).filter(({ data }) => JSON.stringify(data).includes(title));
  expect(await spawned()).toHaveLength(1);
  server = await stack.startServer();

  const path = `/v1/sessions/${forest.roots[0] ?? ''}/child_sessions`;
  const row = await until(
    'the child to be listed',
    async () => {
      const { data } = (await api(server.url).get<{ data: JsonObject[] }>(path)).body;
      return data.find((one) => one['title'] === title);
    },
    { within: 10_000 },
  );
  const born = await spawned();
  const retried = await api(server.url).post('/v1/sessions', spawn, { headers });
  expect([retried.status, retried.body['id']]).toEqual([201, row['id']]);
  expect(await spawned()).toEqual(born);
  await expectAgreement(stack);
});

it('F084: a server that is asked to stop in the middle of a batch ends in time, and the batch is whole or not there', async () => {
  await until('the node to be healthy', async () => (await health()) === 200, { within: 20_000 });
  const schema = await setSchema(stack.databaseUrl);
  const load = posts(8);
  const [ended, fates] = await query(stack.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM ${schema}.checkpoint FOR UPDATE`);
    const answers = postAll(server.url, load);
    await until('the projector to be in its batch', async () => {
      const found = await query(stack.databaseUrl, (looking) =>
        looking.query(
          `SELECT 1 FROM pg_stat_activity WHERE application_name = 'rollcall-engine' AND wait_event_type = 'Lock'`,
        ),
      );
      return found.rowCount === 1;
    });
    const asked = performance.now();
    const exit = server.end('SIGTERM');
    server.child.kill('SIGTERM');
    await client.query('ROLLBACK');
    const ended = { ...(await exit), inTime: performance.now() - asked < EXIT_MS };
    return [ended, await answers] as const;
  });
  expect(ended).toEqual({ code: 0, signal: null, inTime: true });
  expect(
    [...fates.values()].filter((fate) => fate !== 'unanswered' && ![202, 503].includes(fate.status)),
  ).toEqual([]);
  server = await stack.startServer();
  await until('the node to be healthy', async () => (await health()) === 200, { within: 20_000 });
  expect(refused(await postAll(server.url, load))).toEqual([]);
  await expectAgreement(stack);
});

it('F085: the answer to a prompt that was open over a restart is the answer to that prompt, and starts nothing', async () => {
  const before = roll(server.url);
  const child = await before.child(await before.root(), { title: 'a:b' });
  await before.status(child.id, 'waiting');
  const prompt = await before.ask(child.id, { elicitation_id: unique('open'), message: 'Which one?' });
  const length = (await readWholeLog(stack.eventStoreUrl)).length;
  await server.end('SIGTERM');
  server = await stack.startServer();

  const after = roll(server.url);
  const verdict = { action: 'accept', content: { choice: 'x' } };
  expect((await after.resolve(child.id, prompt, verdict)).status).toBe(202);
  expect(await after.prompt(child.id, prompt)).toEqual({ status: 'resolved' });
  const written = (await expectAgreement(stack)).slice(length);
  expect(written).toMatchObject([
    {
      type: 'ElicitationResolved',
      stream: `rollcall.session-${child.id}`,
      data: { elicitation_id: prompt, ...verdict },
    },
  ]);
  expect(await after.items(child.id)).toEqual([]);
});
