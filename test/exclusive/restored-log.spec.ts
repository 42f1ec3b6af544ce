import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { cpSync, rmSync } from 'node:fs';
import { plantForest, type Post, postAll } from '../support/chaos/burst.js';
import { query } from '../support/chaos/read-models.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api } from '../support/http.js';
import { type EventStoreProcess, startEventStore } from '../support/process/event-store-process.js';
import { buildWithAnotherSet, type PatchedBuild } from '../support/process/patched-build.js';
import { runProcess } from '../support/process/started-process.js';
import { startServer, type ServerProcess } from '../support/process/server-process.js';
import { tempDirectory } from '../support/run/run-directory.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const [directory, backup] = [tempDirectory('restored'), tempDirectory('backup')];
let stack: ExclusiveStack;
let log: EventStoreProcess;
let newBuild: PatchedBuild;
let session: string;

/** A log that stands further than its backup, then is restored from it; the set and a folded stream lie beyond. */
beforeAll(async () => {
  stack = await ExclusiveStack.start();
  newBuild = buildWithAnotherSet();
  await run(async (node) => {
    session = (await plantForest(node.url, 1, 1)).children[0] ?? '';
  });
  cpSync(directory, backup, { recursive: true });
  await run(async (node) => {
    const posts = Array.from({ length: 300 }, (): Post => ({ key: unique('k'), ...itemPost() }));
    await postAll(node.url, posts);
    await api(node.url).post(`/v1/sessions/${session}/close`, { reason: 'cancelled' });
    await until('the stream is kept folded', async () =>
      (await snapshots()).includes(`rollcall.session-${session}`),
    );
  });
  rmSync(directory, { recursive: true });
  cpSync(backup, directory, { recursive: true });
  log = await startEventStore(directory);
});

afterAll(async () => {
  await log.end('SIGTERM');
  await stack.dispose();
  newBuild.remove();
  for (const path of [directory, backup]) rmSync(path, { recursive: true, force: true });
});

const itemPost = (): Pick<Post, 'path' | 'body'> => ({
  path: `/v1/sessions/${session}/events`,
  body: { type: 'external_assistant_message', data: { agent: 'coder', text: unique('x') } },
});

async function run(work: (node: ServerProcess) => Promise<void>): Promise<void> {
  const node = await startEventStore(directory);
  const server = await startServer({ eventStoreUrl: node.url, databaseUrl: stack.databaseUrl });
  await work(server);
  await server.end('SIGTERM');
  await node.end('SIGTERM');
}

async function snapshots(): Promise<string[]> {
  const { rows } = await query(stack.databaseUrl, (client) =>
    client.query<{ stream: string }>('SELECT stream FROM rollcall.stream_snapshots'),
  );
  return rows.map(({ stream }) => stream);
}

/** What a server printed that did not start. */
async function refusedStart(script?: string): Promise<string> {
  const where = { eventStoreUrl: log.url, databaseUrl: stack.databaseUrl };
  const started = await startServer(script === undefined ? where : { ...where, script }).catch(String);
  if (typeof started === 'string') return started;
  await started.end('SIGTERM');
  throw new Error('the server started');
}

const refusal = /stand at \d+, beyond the log's head \d+; run "rollcall rebuild --all"/;

it('the build that has filled its set from what was lost does not start', async () => {
  expect(await refusedStart()).toMatch(refusal);
});

it('nor does a build with a new set, which would fill it from a log that the database does not belong to', async () => {
  expect(await refusedStart(newBuild.server)).toMatch(refusal);
});

it('"rollcall rebuild --all" is the way out: nothing is decided on what was lost any more', async () => {
  const env = { EVENTSTORE_URL: log.url, DATABASE_URL: stack.databaseUrl };
  const rebuilt = await runProcess(newBuild.cli, { name: 'rollcall', args: ['rebuild', '--all'], env });
  expect(rebuilt).toMatchObject({ code: 0, output: expect.stringMatching(/filled up to position \d+/) });
  expect(await snapshots()).toEqual([]);
  const server = await startServer({
    eventStoreUrl: log.url,
    databaseUrl: stack.databaseUrl,
    script: newBuild.server,
  });
  const { path, body } = itemPost();
  const said = await api(server.url).post(path, body);
  expect([said.status, said.headers.get('rollcall-projected')]).toEqual([202, null]);
  await server.end('SIGTERM');
  const old = await startServer({ eventStoreUrl: log.url, databaseUrl: stack.databaseUrl });
  await old.end('SIGTERM');
});
