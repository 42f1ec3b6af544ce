import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { EventStoreDBClient } from '@eventstore/db-client';
import { plantForest } from '../support/chaos/burst.js';
import { parkedRow, streamOf } from '../support/chaos/poison.js';
import { query } from '../support/chaos/read-models.js';
import { writeByHand } from '../support/chaos/written-by-hand.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { rawEventStore } from '../support/event-store.js';
import { api, type Answer, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let root: string;
let sessions: string[];

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  const forest = await plantForest(server.url, 1, 30);
  root = forest.roots[0] ?? '';
  sessions = [...forest.children];
});

afterAll(() => stack.dispose());

/** A session that no other case writes to. */
const next = (): string => sessions.pop() ?? '';

const say = (session: string, text = unique('said')): Promise<Answer<JsonObject>> =>
  api(server.url).post(`/v1/sessions/${session}/events`, {
    type: 'external_assistant_message',
    data: { agent: 'coder', text },
  });

/** The metadata of the session's birth, without the command. */
async function metadataOf(session: string): Promise<JsonObject> {
  const log = rawEventStore(stack.eventStoreUrl);
  try {
    const [born] = await log.read(streamOf(session));
    return { ...born?.metadata, command: undefined };
  } finally {
    await log.dispose();
  }
}

/** What is said now is soon shown: nothing before it in the log holds the projections up. */
async function othersGoOn(): Promise<void> {
  await until(
    'the others to go on',
    async () => {
      const answer = await say(root).catch(() => null);
      return answer?.status === 202 && answer.headers.get('rollcall-projected') === null;
    },
    { within: 30_000, every: 200 },
  );
}

const item = (text: string, itemId = unique('item')): JsonObject => ({
  item_id: itemId,
  response_id: 'resp',
  item_type: 'message',
  payload: { role: 'assistant', content: [{ type: 'output_text', text }] },
  created_by: null,
});

const prompt = (id: string): JsonObject => ({
  elicitation_id: id,
  params: {},
  response_id: null,
  expires_at: null,
});

describe('F137: an event that no build can apply', () => {
  const deep = `${'['.repeat(10_000)}"${'x'.repeat(1_000_000)}"${']'.repeat(10_000)}`;
  const kinds: readonly [string, string, string, JsonObject][] = [
    ['of an unknown type', 'SessionTeleported', '{}', {}],
    ['with missing fields', 'SessionRenamed', '{}', {}],
    ['of wrong types', 'SessionRenamed', '{"title":{}}', {}],
    ['that is no JSON', 'SessionRenamed', 'title: x', {}],
    [
      'of 1 MB nested 10,000 levels deep',
      'ElicitationRequested',
      `{"elicitation_id":"E","params":{"deep":${deep}},"response_id":null,"expires_at":null}`,
      {},
    ],
    ['of schema 99', 'SessionRenamed', '{"title":"x"}', { schema: 99 }],
    ['of a type with NUL in its name', 'Session\u0000', '{}', {}],
    ['without metadata of ours', 'SessionRenamed', '{"title":"x"}', { actor: 7 }],
  ];
  const places = new Map<string, string>();

  it('parks its stream with position and reason, while the others go on', async () => {
    const events = [];
    for (const [what, type, data, more] of kinds) {
      const session = next();
      places.set(what, session);
      const metadata = JSON.stringify({ ...(await metadataOf(session)), ...more });
      events.push({ stream: streamOf(session), type, data, metadata });
    }
    await writeByHand(stack, events);
    await othersGoOn();
    for (const [what, session] of places) {
      expect([what, await parkedRow(stack, session)]).toEqual([
        what,
        expect.objectContaining({ attempts: 1, reason: expect.stringMatching(/.{5}/) as unknown }),
      ]);
    }
    const known = await api(server.url).get('/health');
    expect([known.status, known.body['projections']]).toEqual([
      200,
      expect.objectContaining({ parked: kinds.length }),
    ]);
  });

  it('is marked in lists, refused to commands, and told by reads', async () => {
    const session = places.get('of schema 99') ?? '';
    const list = await api(server.url).get<{ data: JsonObject[] }>(
      `/v1/sessions/${root}/child_sessions?limit=100`,
    );
    expect(list.headers.get('rollcall-parked')).toBe('true');
    const marked = list.body.data.filter((row) => row['parked'] === true).map(({ id }) => id);
    expect(new Set(marked)).toEqual(new Set(places.values()));
    expect(list.body.data.some((row) => row['parked'] === false)).toBe(false);
    const roots = await api(server.url).get<{ data: JsonObject[] }>('/v1/sessions');
    expect([roots.headers.get('rollcall-parked'), roots.body.data[0]?.['parked']]).toEqual([null, undefined]);

    const refused = await say(session);
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('stream_parked')]);
    const shown = await api(server.url).get(`/v1/sessions/${session}`);
    expect([shown.status, shown.headers.get('rollcall-parked')]).toEqual([200, 'true']);
  });

  it('is not tried again by a restart', async () => {
    const parked = (): Promise<unknown[]> =>
      query(stack.databaseUrl, (client) =>
        client.query<JsonObject>(
          'SELECT stream, revision, attempts, parked_at FROM rollcall.parked_streams ORDER BY stream',
        ),
      ).then(({ rows }) => rows);
    const before = await parked();
    await server.end('SIGKILL');
    server = await stack.startServer();
    await othersGoOn();
    expect(await parked()).toEqual(before);
  });
});

it.each([
  ['4.1 MB', 4_100_000],
  ['12 MB', 12_000_000],
])('F139: an event of %s is shown or parked, and what comes after it is projected', async (_what, bytes) => {
  const session = next();
  const metadata = JSON.stringify(await metadataOf(session));
  const id = unique('big');
  const data = JSON.stringify(item('x'.repeat(bytes), id));
  await writeByHand(stack, [{ stream: streamOf(session), type: 'ItemAppended', data, metadata }]);
  await othersGoOn();
  expect(await parkedRow(stack, session)).toBeNull();
  const after = unique('after');
  expect((await say(session, after)).status).toBe(202);
  const items = await api(server.url).get<{ data: JsonObject[] }>(
    `/v1/sessions/${session}/items?order=desc&limit=2`,
  );
  expect(items.body.data.map((row) => row['id'])).toEqual([expect.any(String), id]);
  expect(items.text.length).toBeGreaterThan(bytes);
});

describe('F140: random text that is longer than an index takes', () => {
  const random = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);

  it.each([3_000, 9_000])('of %i characters in the log stops nobody', async (length) => {
    const metadata = await metadataOf(root);
    const long = random(length);
    const spawnLike = { ...metadata, root_id: long, ancestor_ids: [] };
    const inStream = (session: string, type: string, data: JsonObject, more: JsonObject = {}) => ({
      stream: streamOf(session),
      type,
      data: JSON.stringify(data),
      metadata: JSON.stringify({ ...metadata, ...more }),
    });
    const key = { command: { keys: [{ key: long, hash: 'h' }], status: 202, result: {} } };
    const [items, prompts, keys, titles, labels] = [next(), next(), next(), next(), next()];
    await writeByHand(stack, [
      inStream(items, 'ItemAppended', item('x', long)),
      inStream(prompts, 'ElicitationRequested', prompt(long)),
      inStream(keys, 'ItemAppended', item('x'), key),
      inStream(titles, 'SessionRenamed', { title: long }),
      inStream(labels, 'SessionLabelled', { labels: { [long]: long } }),
      inStream(long, 'SessionTeleported', {}),
      inStream(`${long}b`, 'SessionTeleported', {}, spawnLike),
    ]);
    await othersGoOn();
    for (const session of [items, prompts, keys]) {
      expect(await parkedRow(stack, session)).toMatchObject({ reason: expect.stringContaining('index') });
    }
    for (const session of [titles, labels]) expect(await parkedRow(stack, session)).toBeNull();
    for (const session of [long, `${long}b`])
      expect(await parkedRow(stack, session)).toMatchObject({ revision: '0' });
  });

  it.each([3_000, 9_000])('of %i characters is refused at the API', async (length) => {
    const long = random(length);
    const session = next();
    const caller = api(server.url);
    const answers = await Promise.all([
      caller.post('/v1/agents', { name: long }),
      caller.post('/v1/sessions', { parent_session_id: root, title: long }),
      caller.post('/v1/sessions', { parent_session_id: root, labels: { [long]: 'x' } }),
      caller.post('/v1/sessions', { parent_session_id: root, labels: { x: long } }),
      caller.post(`/v1/sessions/${session}/events`, {
        type: 'mcp_elicitation',
        data: { message: '?', elicitation_id: long },
      }),
      caller.post('/v1/sessions', { parent_session_id: root }, { headers: { 'idempotency-key': long } }),
    ]);
    // The value of a label is in no index.
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 201, 422, 422]);
    await othersGoOn();
    expect(await parkedRow(stack, session)).toBeNull();
  });
});

it('F136: NUL is stripped the same way everywhere, and the six characters that look like it are left alone', async () => {
  const session = next();
  const texts = ['a\u0000b', 'a\\u0000b'];
  for (const text of texts) {
    const answer = await say(session, text);
    expect([answer.status, answer.headers.get('rollcall-projected')]).toEqual([202, null]);
  }
  const metadata = await metadataOf(session);
  const log = rawEventStore(stack.eventStoreUrl);
  try {
    const { length } = await log.read(streamOf(session));
    await log.append(
      streamOf(session),
      [
        { type: 'SessionRenamed', data: { title: 't\u0000' }, metadata },
        { type: 'SessionLabelled', data: { labels: { 'k\u0000': 'v\u0000' } }, metadata },
        {
          type: 'ElicitationRequested',
          data: { ...prompt('E\u0000'), params: { 'k\u0000': '\u0000' } },
          metadata,
        },
      ],
      BigInt(length - 1),
    );
  } finally {
    await log.dispose();
  }
  expect((await say(session, 'after')).headers.get('rollcall-projected')).toBeNull();
  const items = await api(server.url).get<{ data: JsonObject[] }>(`/v1/sessions/${session}/items?order=asc`);
  const shown = items.body.data.map((row) => (row['content'] as JsonObject[])[0]?.['text']);
  expect(shown).toEqual(['a\uFFFDb', 'a\\u0000b', 'after']);
  const snapshot = await api(server.url).get(`/v1/sessions/${session}`);
  expect(snapshot.body).toMatchObject({ title: 't\uFFFD', labels: { 'k\uFFFD': 'v\uFFFD' } });
  expect(snapshot.body['pending_elicitations']).toMatchObject([{ elicitation_id: 'E\uFFFD' }]);
  expect(snapshot.headers.get('rollcall-parked')).toBeNull();
});

it('F142: a session whose stream was deleted for good is gone, and nothing else is held up', async () => {
  const session = next();
  const client = EventStoreDBClient.connectionString(stack.eventStoreUrl);
  try {
    await client.setStreamMetadata(streamOf(next()), { maxCount: 1_000 });
    await client.tombstoneStream(streamOf(session));
  } finally {
    await client.dispose();
  }
  const answer = await say(session);
  expect([answer.status, answer.text]).toEqual([410, expect.stringContaining('gone')]);
  await othersGoOn();
  await server.end('SIGKILL');
  server = await stack.startServer();
  await othersGoOn();
  expect((await say(session)).status).toBe(410);
  expect(await parkedRow(stack, session)).toBeNull();
});

it('a parked root is marked in the list of sessions, and only that one', async () => {
  const agent = await api(server.url).post('/v1/agents', { name: unique('agent') });
  const made = await api(server.url).post('/v1/sessions', { agent_id: agent.body['id'] });
  const id = String(made.body['id']);
  const metadata = await metadataOf(id);
  const log = rawEventStore(stack.eventStoreUrl);
  await log.append(streamOf(id), [{ type: 'SessionTeleported', data: {}, metadata }], 0n);
  await log.dispose();
  await until('the node to know', async () => (await say(id)).status === 503);
  const list = await api(server.url).get<{ data: JsonObject[] }>('/v1/sessions');
  expect(list.headers.get('rollcall-parked')).toBe('true');
  expect(list.body.data.filter((row) => 'parked' in row)).toMatchObject([{ id, parked: true }]);
});
