import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NO_STREAM } from '@eventstore/db-client';
import { Client } from 'pg';
import { rawEventStore } from '../support/event-store.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api } from '../support/http.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

/** What the suites that kill things rely on: parts come back on their old addresses, with their data. */
let stack: ExclusiveStack;

beforeAll(async () => {
  stack = await ExclusiveStack.start({ durable: true });
});

afterAll(() => stack.dispose());

async function query(sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: stack.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function onLog<T>(work: (log: ReturnType<typeof rawEventStore>) => Promise<T>): Promise<T> {
  const log = rawEventStore(stack.eventStoreUrl);
  try {
    return await work(log);
  } finally {
    await log.dispose();
  }
}

it('keeps the log over a kill of the node', async () => {
  const stream = unique('kept');
  const url = stack.eventStoreUrl;
  await onLog((log) => log.append(stream, [{ type: 'Kept', data: {} }], NO_STREAM));
  await stack.killEventStore();
  await stack.bringEventStore();
  expect(stack.eventStoreUrl).toBe(url);
  expect(await onLog((log) => log.read(stream))).toMatchObject([{ type: 'Kept' }]);
});

it('keeps the database over a kill and over an absence', async () => {
  const url = stack.databaseUrl;
  await query('CREATE TABLE kept (n int)');
  stack.postgres.kill();
  await until('the table to be back', () => query('SELECT * FROM kept'), { within: 20_000, every: 50 });
  await stack.stopPostgres();
  await expect(query('SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
  await stack.bringPostgres();
  expect(stack.databaseUrl).toBe(url);
  expect(await query('SELECT * FROM kept')).toEqual([]);
});

it('runs servers, which end when told', async () => {
  const server = await stack.startServer();
  expect((await api(server.url).get('/health')).status).toBe(200);
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
});
