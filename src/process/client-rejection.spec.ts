import { expect, it } from '@jest/globals';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { comesFromEventStoreClient } from './client-rejection.js';

function withStack(...frames: string[]): Error {
  const error = new Error('boom');
  error.stack = ['Error: boom', ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return error;
}

const CLIENT = '/app/node_modules/@eventstore/db-client/dist/streams/appendToStream/batchAppend.js:40:9';
const OWN = '/app/dist/src/event-store/log.js:12:3';

it.each<[string, unknown, boolean]>([
  ['made in the client', withStack(`BatchAppend (${CLIENT})`, `append (${OWN})`), true],
  [
    'made in its transport',
    withStack('callErrorFromStatus (/app/node_modules/@grpc/grpc-js/build/src/call.js:32:19)'),
    true,
  ],
  [
    'made by a built-in that the client called',
    withStack('JSON.stringify (<anonymous>)', `executor (${CLIENT})`),
    true,
  ],
  [
    'made below it by Node',
    withStack('node:internal/process/task_queues:95:5', `executor (${CLIENT})`),
    true,
  ],
  ['made by us in a callback of the client', withStack(`onCheckpoint (${OWN})`, `emit (${CLIENT})`), false],
  ['made by us', withStack(`async handler (file://${OWN})`), false],
  ['not an error', 'unavailable', false],
  ['without a stack', Object.assign(new Error('x'), { stack: undefined }), false],
])('a rejection %s', (_case, reason, expected) => {
  expect(comesFromEventStoreClient(reason)).toBe(expected);
});

it('knows the errors of the real client', async () => {
  const client = EventStoreDBClient.connectionString('esdb://127.0.0.1:1?tls=false');
  const failure: unknown = await client
    .appendToStream('s', jsonEvent({ type: 't', data: {} }))
    .catch((error: unknown) => error);
  expect(comesFromEventStoreClient(failure)).toBe(true);
  await client.dispose();
});
