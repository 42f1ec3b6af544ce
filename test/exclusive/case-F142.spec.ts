import { EventStoreDBClient } from '@eventstore/db-client';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { plantTree } from '../support/chaos/subtree.js';
import { readWholeLog } from '../support/chaos/whole-log.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type Answer, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';

jest.setTimeout(120_000);

/** F142: an admin tool ends the stream of one session for good, behind Rollcall's back. */
let stack: ExclusiveStack;
let server: ServerProcess;
let root: string;
let ended: string;
let sibling: string;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  const tree = await plantTree(server.url, 2, 1);
  ({ root } = tree);
  [ended = '', sibling = ''] = tree.below;
  await tombstone(ended);
});

afterAll(() => stack.dispose());

async function tombstone(id: string): Promise<void> {
  const client = EventStoreDBClient.connectionString(stack.eventStoreUrl);
  await client.tombstoneStream(`rollcall.session-${id}`);
  await client.dispose();
}

const say = (node: ServerProcess, id: string, text: string): Promise<Answer<JsonObject>> =>
  api(node.url).post(`/v1/sessions/${id}/events`, {
    type: 'external_assistant_message',
    data: { agent: 'w', text },
  });

async function expectUnharmed(node: ServerProcess): Promise<void> {
  const gone = await say(node, ended, 'too late');
  expect([gone.status, gone.body]).toEqual([
    410,
    { error: { code: 'gone', message: 'This stream was deleted for good.' } },
  ]);
  expect(gone.headers.get('rollcall-parked')).toBeNull();
  const text = unique('said');
  const said = await say(node, sibling, text);
  expect([said.status, said.headers.get('rollcall-projected')]).toEqual([202, null]);
  const items = await api(node.url).get(`/v1/sessions/${sibling}/items`);
  expect(items.text).toContain(text);
  expect((await api(node.url).get('/health')).status).toBe(200);
}

it('a node that knew the session says 410, and all others go on', () => expectUnharmed(server));

it('so does a node that never saw it', async () => {
  const other = await stack.startServer();
  await expectUnharmed(other);
  await other.end('SIGTERM');
});

it('an interrupt and a deletion of the whole tree pass over it', async () => {
  const interrupt = await api(server.url).post(`/v1/sessions/${root}/events`, { type: 'interrupt' });
  expect([interrupt.status, interrupt.body]).toEqual([202, { queued: false }]);
  const deleted = await api(server.url).delete(`/v1/sessions/${root}`);
  expect([deleted.status, deleted.body['deleted']]).toEqual([200, true]);
  for (const id of [root, sibling, ended])
    expect((await api(server.url).get(`/v1/sessions/${id}`)).status).toBe(404);
  const log = await readWholeLog(stack.eventStoreUrl);
  expect(log.filter(({ type }) => type === 'CascadeCompleted')).toHaveLength(2);
});
