import { afterAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { NO_STREAM } from '@eventstore/db-client';
import { Client } from 'pg';
import { rawEventStore } from './event-store.js';
import { api } from './http.js';
import { stack } from './stack.js';
import { unique } from './unique.js';

const log = rawEventStore(stack().eventStoreUrl);
afterAll(() => log.dispose());

it.each(['a', 'b'] as const)('server %s of the shared stack is healthy', async (name) => {
  expect((await api(stack()[name]).get('/health')).status).toBe(200);
});

it('the log of the shared stack takes events and gives them back', async () => {
  const stream = unique('support');
  const id = randomUUID();
  await log.append(stream, [{ id, type: 'Seen', data: { text: 'é\u0000' } }], NO_STREAM);
  expect(await log.read(stream)).toMatchObject([
    { id, type: 'Seen', stream, revision: '0', data: { text: 'é\u0000' } },
  ]);
  expect(await log.read(unique('absent'))).toEqual([]);
});

it('the database of the shared stack answers', async () => {
  const client = new Client({ connectionString: stack().databaseUrl });
  await client.connect();
  try {
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await client.end();
  }
});
