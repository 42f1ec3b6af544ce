import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { rmSync } from 'node:fs';
import { expectAgreement } from '../support/chaos/agreement.js';
import { allAnswers } from '../support/chaos/answers.js';
import { mixedPosts, plantForest, postAll } from '../support/chaos/burst.js';
import { query, setSchema } from '../support/chaos/read-models.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api } from '../support/http.js';
import { startEventStore } from '../support/process/event-store-process.js';
import { startServer, type ServerProcess } from '../support/process/server-process.js';
import { tempDirectory } from '../support/run/run-directory.js';

jest.setTimeout(120_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let before: Record<string, string>;
let position: string;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  const forest = await plantForest(server.url, 2, 3);
  await postAll(server.url, mixedPosts(forest, 120));
  const caller = api(server.url);
  const [first = '', second = ''] = forest.children;
  await caller.patch(`/v1/sessions/${first}`, { title: 'ui:codex:renamed', labels: { a: '1' } });
  await caller.post(`/v1/sessions/${second}/close`, { reason: 'cancelled' });
  position = (await expectAgreement(stack)).at(-1)?.position ?? '';
  before = await allAnswers(server.url, position);
});

afterAll(() => stack.dispose());

it('there is something to lose', () => {
  expect(Object.keys(before).length).toBeGreaterThan(60);
  expect(Object.values(before).filter((answer) => !answer.startsWith('200 '))).toEqual([]);
});

it('a dropped set is filled again from the log: the same answers, byte for byte', async () => {
  await server.end('SIGTERM');
  const schema = await setSchema(stack.databaseUrl);
  await query(stack.databaseUrl, (client) => client.query(`DROP SCHEMA ${schema} CASCADE`));
  server = await stack.startServer();
  expect(await allAnswers(server.url, position)).toEqual(before);
  await expectAgreement(stack);
});

it('a fresh database gives the same answers, byte for byte', async () => {
  const databaseUrl = await freshDatabase('fresh');
  const other = await stack.startServer({ databaseUrl });
  expect(await allAnswers(other.url, position)).toEqual(before);
  await expectAgreement({ eventStoreUrl: stack.eventStoreUrl, databaseUrl });
  await other.end('SIGTERM');
});

it('read models of another log are not shown: the start is refused in one line that says what to do', async () => {
  const directory = tempDirectory('foreign');
  const foreign = await startEventStore(directory);
  try {
    const refusal = await refusedStart(foreign.url, stack.databaseUrl);
    expect(refusal).toMatch(/belong to log [0-9a-f-]+, this is log [0-9a-f-]+; run "rollcall rebuild --all"/);
    expect(refusal.split('\n').filter(Boolean)).toHaveLength(1);
  } finally {
    await foreign.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  }
});

/** What a server printed that did not start. */
async function refusedStart(eventStoreUrl: string, databaseUrl: string): Promise<string> {
  const started = await startServer({ eventStoreUrl, databaseUrl }).catch((error: unknown) => String(error));
  if (typeof started === 'string') return started.replace(/^.*ended \(1\) before it was ready:\n/, '');
  await started.end('SIGTERM');
  throw new Error('the server started');
}

async function freshDatabase(name: string): Promise<string> {
  await query(stack.databaseUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  const url = new URL(stack.databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
