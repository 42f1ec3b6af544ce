import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { named, sessionRoutes } from './session-routes.js';

/** `contract/sessions.md` 1.5 and 6.1; `api.md` 1. */
const on = roll(stack().a);
const { api } = on;

const json = { 'content-type': 'application/json' };
const unknown = () => `conv_${randomUUID().replaceAll('-', '')}`;
const domainError = (code: string, message: unknown = expect.any(String)) => ({ error: { code, message } });
const entry = { type: expect.any(String), loc: expect.any(Array), msg: expect.any(String) };

it('every answer carries a request id of its own', async () => {
  const session = await on.root();
  const answers = await Promise.all([
    api.get(`/v1/sessions/${session.id}`),
    api.get(`/v1/sessions/${unknown()}`),
    api.get('/v1/sessions?limit=0'),
    api.get('/nowhere'),
    api.post('/health', {}),
    api.post('/v1/sessions', {}),
    api.raw('POST', '/v1/sessions', '{', { headers: json }),
    api.raw('POST', '/v1/sessions', 'x', { headers: { 'content-type': 'text/plain' } }),
  ]);
  const ids = answers.map(({ headers }) => headers.get('x-request-id') ?? '');
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('an unknown session is 404 on every route', () => {
  it.each(sessionRoutes(unknown()).map((call) => [named(call), call] as const))('%s', async (_, call) => {
    const answer = await api.raw(call.method, call.path, call.body && JSON.stringify(call.body), {
      headers: call.body ? json : {},
    });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual(domainError('not_found', 'Session not found'));
  });
});

it.each(['/', '/v1', '/v1/nowhere', `/v1/sessions/${unknown()}/nowhere`, '/v1/elicitations/elicit_1'])(
  'POST %s, which is no route, is 404',
  async (path) => {
    const answer = await api.post(path, {});
    expect([answer.status, answer.body]).toEqual([404, domainError('not_found', 'Not found.')]);
  },
);

it('a route under another method is 405 and names its methods', async () => {
  const answer = await api.delete('/v1/sessions');
  expect([answer.status, answer.body]).toEqual([405, { detail: 'Method Not Allowed' }]);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
});

describe('a body that is no JSON is 422', () => {
  it.each(['{', '', 'nope', '{"a":}', '{"agent_id":"x"', '\ufeff', '{"a":1e999}', '['.repeat(300)])(
    '%j',
    async (text) => {
      const answer = await api.raw('POST', '/v1/sessions', text, { headers: json });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [entry] });
    },
  );

  it('and malformed text says json_invalid', async () => {
    const answer = await api.raw('POST', '/v1/sessions', '{"a":', { headers: json });
    expect(answer.body).toMatchObject({ detail: [{ type: 'json_invalid', loc: ['body', 5] }] });
  });

  it('bytes that are no UTF-8 too', async () => {
    const bytes = new Uint8Array([...Buffer.from('{"title":"'), 0xff, ...Buffer.from('"}')]);
    expect((await api.raw('POST', '/v1/sessions', bytes, { headers: json })).status).toBe(422);
  });
});

describe('a body of the wrong shape is 422 and names the member', () => {
  it.each([
    [{}, 'agent_id'],
    [{ agent_id: 1 }, 'agent_id'],
    [{ agent_id: null }, 'agent_id'],
    [{ agent_id: 'a', title: 1 }, 'title'],
    [{ agent_id: 'a', title: 'x'.repeat(769) }, 'title'],
    [{ agent_id: 'a', title: 'nul\0' }, 'title'],
    [{ agent_id: 'a', title: 'lone \ud83d' }, 'title'],
    [{ agent_id: 'a', parent_session_id: 7 }, 'parent_session_id'],
    [{ agent_id: 'a', labels: [] }, 'labels'],
    [{ agent_id: 'a', labels: { a: 1 } }, 'labels'],
    [{ agent_id: 'a', labels: { ['k'.repeat(129)]: 'v' } }, 'labels'],
    [{ agent_id: 'a', labels: { 'k\0': 'v' } }, 'labels'],
  ])('POST /v1/sessions %j', async (body, member) => {
    const answer = await api.post('/v1/sessions', body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [entry] });
    const [first] = (answer.body as { detail: { loc: unknown[] }[] }).detail;
    expect(first?.loc.slice(0, 2)).toEqual(['body', member]);
    expect(first).toHaveProperty('input');
  });

  it.each(['"text"', '[]', 'null', '7', 'true'])('POST /v1/sessions %s', async (text) => {
    const answer = await api.raw('POST', '/v1/sessions', text, { headers: json });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ ...entry, loc: ['body'] }] });
  });

  it.each([{}, { type: 1 }, { type: 'message', data: 'text' }, { type: 'message', data: [] }])(
    'POST …/events %j, also on an unknown session',
    async (body) => {
      expect((await api.post(`/v1/sessions/${unknown()}/events`, body)).status).toBe(422);
    },
  );

  it.each([{ colour: 'red' }, { title: 7 }, { labels: null, extra: 1 }])('PATCH %j', async (body) => {
    const session = await on.root();
    expect((await api.patch(`/v1/sessions/${session.id}`, body)).status).toBe(422);
    expect((await api.patch(`/v1/sessions/${unknown()}`, body)).status).toBe(422);
  });
});

it('a member that nobody knows is ignored on create', async () => {
  const session = await on.root({ colour: 'red' });
  expect(session).not.toHaveProperty('colour');
});

it('lengths count code points: a title of 768 emoji is taken', async () => {
  const title = '🟡'.repeat(768);
  expect((await on.root({ title })).title).toBe(title);
});

it('a label value is cut to 256 code points, silently', async () => {
  const { labels } = await on.root({ labels: { long: '🟡'.repeat(300), ['k'.repeat(128)]: 'v' } });
  expect(labels['long']).toBe('🟡'.repeat(256));
});

it.each(['cost_control.budget', 'omnigent.turn_actor', 'omnigent.pinned.alice', 'omnigent.pinned.'])(
  'the label %s is reserved: 400 on create and on PATCH',
  async (key) => {
    const { id, agent_id } = await on.root();
    const labels = { [key]: 'x' };
    for (const answer of [
      await api.post('/v1/sessions', { agent_id, labels }),
      await api.patch(`/v1/sessions/${id}`, { labels }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual(domainError('invalid_input', expect.stringContaining(key)));
    }
  },
);

it('an unknown agent is 404 and is named', async () => {
  const agent_id = unknown().replace('conv_', 'ag_');
  const answer = await api.post('/v1/sessions', { agent_id });
  expect([answer.status, answer.body]).toEqual([
    404,
    domainError('not_found', expect.stringContaining(agent_id)),
  ]);
});

describe('events are checked in their order (6.1)', () => {
  it('the type comes after the session: 404 before 400', async () => {
    expect((await api.post(`/v1/sessions/${unknown()}/events`, { type: 'bogus' })).status).toBe(404);
  });

  it('an unknown type is 400 and the message lists the known ones', async () => {
    const answer = await on.event((await on.root()).id, 'bogus');
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(
      domainError('invalid_input', expect.stringMatching(/message.*approval|approval.*message/)),
    );
  });

  it('who created it is for runners to say: 403', async () => {
    const { id } = await on.root();
    const answer = await api.post(`/v1/sessions/${id}/events`, { type: 'bogus', created_by: 'alice' });
    expect([answer.status, answer.body]).toEqual([403, domainError('forbidden')]);
  });

  it.each([
    ['external_conversation_item', {}],
    ['external_conversation_item', { item_type: 'bogus', item_data: {} }],
    ['external_conversation_item', { item_type: 'message', item_data: { role: 'system', content: [] } }],
    ['external_conversation_item', { item_type: 'message', item_data: { role: 'assistant', content: [] } }],
    [
      'external_conversation_item',
      { item_type: 'error', item_data: { source: 'llm', code: 'x', message: ' ' } },
    ],
    ['external_conversation_item', { item_type: '__proto__', item_data: {} }],
    ['external_assistant_message', { text: 'who speaks?' }],
    ['external_session_status', {}],
    ['external_session_status', { status: 'done' }],
    ['external_session_status', { status: 'idle', response_id: 7 }],
    ['external_session_status', { status: 'waiting', background_task_count: -1 }],
    ['external_elicitation_resolved', {}],
    ['external_elicitation_resolved', { elicitation_id: 7 }],
    ['mcp_elicitation', {}],
    ['mcp_elicitation', { message: 'x', mode: 'voice' }],
    ['mcp_elicitation', { message: 'x', response_id: 'r\0' }],
    ['mcp_elicitation', { message: 'x', mode: 'url' }],
    ['mcp_elicitation', { message: 'x', requestedSchema: 'text' }],
    ['message', { role: 'system', content: [] }],
    ['message', { role: 'user', content: 'text' }],
  ])('a malformed payload is 400: %s %j', async (type, data) => {
    const { id } = await on.root();
    const before = await on.snapshot(id);
    const answer = await on.event(id, type, data);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(
      domainError('invalid_input', expect.stringContaining('Invalid data payload for event type')),
    );
    expect(await on.snapshot(id)).toEqual(before);
  });
});

it('a message to a session without a runner is 503 and stores nothing', async () => {
  const { id } = await on.root();
  const content = [{ type: 'input_text', text: 'hi' }];
  const answer = await on.event(id, 'message', { role: 'user', content });
  expect([answer.status, answer.body]).toEqual([
    503,
    domainError('runner_unavailable', 'No runner bound for session'),
  ]);
  expect(answer.headers.get('retry-after')).toMatch(/^[0-9]+$/);
  expect(await on.items(id)).toEqual([]);
});

it('a body above 16 MiB is 413, by what it says of its length', async () => {
  const { id } = await on.root();
  const answer = await announce(`/v1/sessions/${id}/events`, 16 * 1024 * 1024 + 1);
  expect(answer).toEqual({ status: 413, body: domainError('payload_too_large') });
});

/** Sends a head and no body: `fetch` would stumble over the connection that the server closes. */
function announce(path: string, length: number): Promise<{ status: number | undefined; body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { ...json, 'content-length': length };
    const sent = request(new URL(path, stack().a), { method: 'POST', headers }, (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode, body: JSON.parse(body) });
        sent.destroy();
      }, reject);
    });
    sent.on('error', reject).flushHeaders();
  });
}

it('a tree has at most 64 levels below its root', async () => {
  let deepest = await on.root();
  for (let level = 1; level <= 64; level += 1) deepest = await on.child(deepest, { title: `level:${level}` });
  const answer = await api.post('/v1/sessions', { parent_session_id: deepest.id });
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({ detail: [{ ...entry, loc: ['body', 'parent_session_id'] }] });
  expect(await on.children(deepest.id)).toEqual([]);
});
