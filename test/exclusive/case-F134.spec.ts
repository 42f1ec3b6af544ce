import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { NO_STREAM } from '@eventstore/db-client';
import { readModels } from '../support/chaos/read-models.js';
import { rawEventStore } from '../support/event-store.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { roll } from '../support/roll.js';
import { until } from '../support/until.js';

jest.setTimeout(120_000);

/** Written by another application on the same log. */
const FOREIGN_STREAMS = 40;
const PER_STREAM = 500;
/** Generous on a busy machine; reading 20,000 events again takes longer than a start without. */
const START_WITHIN_MS = 10_000;

let stack: ExclusiveStack;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
});

afterAll(() => stack.dispose());

async function checkpoint(): Promise<bigint> {
  const [row] = await readModels(stack.databaseUrl, (schema) => `SELECT position FROM ${schema}.checkpoint`);
  return BigInt(row?.['position'] as string);
}

/** Starts a server; it answers what it knew before, and a new event passes at once. */
async function start(id: string): Promise<ServerProcess> {
  const server = await stack.startServer();
  const on = roll(server.url);
  await until('the server to be ready', async () => (await on.api.get('/health')).status === 200, {
    within: START_WITHIN_MS,
  });
  expect((await on.snapshot(id)).title).toBe('ours');
  const written = await on.event(id, 'external_assistant_message', { agent: 'w', text: 'hello' });
  expect([written.status, written.headers.get('rollcall-projected')]).toEqual([202, null]);
  return server;
}

it('F134: the checkpoint passes events of others, so that a start does not read them again', async () => {
  const first = await stack.startServer();
  const { id } = await roll(first.url).root({ title: 'ours' });
  const log = rawEventStore(stack.eventStoreUrl);
  const foreign = Array.from({ length: PER_STREAM }, (_, n) => ({ type: 'Foreign', data: { n } }));
  for (let stream = 0; stream < FOREIGN_STREAMS; stream += 1)
    await log.append(`other-application-${stream}`, foreign, NO_STREAM);
  const [middle] = await log.read(`other-application-${FOREIGN_STREAMS / 2}`);
  await log.dispose();
  const passed = BigInt(middle?.position ?? 0);
  await until(
    'the checkpoint to pass events that are none of ours',
    async () => (await checkpoint()) > passed,
    {
      within: 20_000,
      every: 100,
    },
  );
  await first.end('SIGKILL');
  for (let round = 0; round < 3; round += 1) {
    const before = await checkpoint();
    const server = await start(id);
    expect(await checkpoint()).toBeGreaterThan(before);
    await server.end('SIGKILL');
  }
});
