import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { plantForest, type Forest } from '../support/chaos/burst.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { query } from '../support/chaos/read-models.js';
import { rawEventStore } from '../support/event-store.js';
import { api, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(120_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let forest: Forest;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  forest = await plantForest(server.url, 2, 1);
});

afterAll(() => stack.dispose());

const post = (session: string, type: string, data: JsonObject): ReturnType<ReturnType<typeof api>['post']> =>
  api(server.url).post(`/v1/sessions/${session}/events`, { type, data });

const statusData = { response_id: null, blocked_on: null, output: null, error: null };

/** Numbers and texts that a database could choke on. */
it.each<[string, string, JsonObject]>([
  ['a time beyond any calendar', 'mcp_elicitation', { message: '?', expires_at: 1e300 }],
  ['a time that only JavaScript knows', 'mcp_elicitation', { message: '?', expires_at: 8.64e12 }],
  ['a time long past', 'mcp_elicitation', { message: '?', expires_at: -8.64e12 }],
  ['a count beyond an integer', 'external_session_status', { status: 'idle', background_task_count: 3e9 }],
  ['a count beyond a double', 'external_session_status', { status: 'idle', background_task_count: 2 ** 60 }],
  ['NUL and half a pair', 'external_assistant_message', { agent: 'a\u0000', text: '\u0000\ud83d' }],
  ['NUL in a prompt', 'mcp_elicitation', { message: '\u0000', 'k\u0000': { deep: '\udc00' } }],
  ['NUL in a reason', 'external_session_status', { status: 'failed', output: 'x\u0000' }],
])('%s is refused or shown, and never parks its session nor stops another', async (_what, type, data) => {
  const [session = '', other = ''] = forest.children;
  const answer = await post(session, type, data);
  expect([202, 400, 422]).toContain(answer.status);
  for (const id of [session, other]) {
    const text = unique('after');
    const said = await post(id, 'external_assistant_message', { agent: 'coder', text });
    expect([said.status, said.headers.get('rollcall-projected')]).toEqual([202, null]);
    const items = await api(server.url).get(`/v1/sessions/${id}/items?order=desc&limit=1`);
    expect([items.status, items.text]).toEqual([200, expect.stringContaining(text)]);
    expect(items.headers.get('rollcall-parked')).toBeNull();
  }
});

it.each([500, 2_000, 4_000, 6_000, 9_000, 30_000, 200_000])(
  'content %i levels deep stops nobody',
  async (depth) => {
    const [session = '', other = ''] = forest.children;
    const deep = `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;
    const headers = { 'content-type': 'application/json', 'idempotency-key': unique('key') };
    const bodies = [
      `{"type":"mcp_elicitation","data":{"message":"?","deep":${deep}}}`,
      `{"type":"external_conversation_item","data":{"item_type":"native_tool","item_data":{"item":${deep}}}}`,
    ];
    for (const body of bodies) {
      const answer = await api(server.url).raw('POST', `/v1/sessions/${session}/events`, body, { headers });
      expect([202, 400, 413, 422]).toContain(answer.status);
      headers['idempotency-key'] = unique('key');
    }
    for (const id of [session, other]) {
      const said = await post(id, 'external_assistant_message', { agent: 'coder', text: unique('on') });
      expect([said.status, said.headers.get('rollcall-projected')]).toEqual([202, null]);
      expect((await api(server.url).get(`/v1/sessions/${id}`)).status).toBe(200);
    }
    const parked = await query(stack.databaseUrl, (client) =>
      client.query('SELECT * FROM rollcall.parked_streams'),
    );
    expect(parked.rows).toEqual([]);
  },
);

/** Events that no command of this build would have written. */
it.each<[string, string, JsonObject]>([
  ['of an unknown type', 'SessionTeleported', {}],
  ['of a wrong shape', 'SessionRenamed', { title: 7 }],
  [
    'that no row can hold',
    'ElicitationRequested',
    { elicitation_id: 'E', params: {}, response_id: null, expires_at: 1e300 },
  ],
  [
    'that Postgres will not take',
    'SessionStatusChanged',
    { ...statusData, status: 'idle', reported: 'idle', background_task_count: 2 ** 40 },
  ],
])('an event %s parks its own stream and no other', async (_what, type, data) => {
  const agent = { parent_session_id: forest.roots[0], title: unique('parked') };
  const session = (await api(server.url).post('/v1/sessions', agent)).body['id'] as string;
  const stream = `rollcall.session-${session}`;
  const log = rawEventStore(stack.eventStoreUrl);
  try {
    const [born] = await log.read(stream);
    await log.append(stream, [{ type, data, metadata: born?.metadata ?? {} }], 0n);
  } finally {
    await log.dispose();
  }
  const other = forest.children[1] ?? '';
  const said = await post(other, 'external_assistant_message', { agent: 'coder', text: unique('on') });
  expect([said.status, said.headers.get('rollcall-projected')]).toEqual([202, null]);
  const parked = await query(stack.databaseUrl, (client) =>
    client.query('SELECT stream, revision FROM rollcall.parked_streams WHERE stream = $1', [stream]),
  );
  expect(parked.rows).toEqual([{ stream, revision: '1' }]);

  await until('commands on the parked stream are refused', async () => {
    const refused = await post(session, 'external_assistant_message', {
      agent: 'coder',
      text: unique('lost'),
    });
    return refused.status === 503 && refused.text.includes('stream_parked');
  });
  const read = await api(server.url).get(`/v1/sessions/${session}`);
  expect([read.status, read.headers.get('rollcall-parked')]).toEqual([200, 'true']);
});
