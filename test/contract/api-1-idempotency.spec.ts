import { describe, expect, it } from '@jest/globals';
import type { Answer, JsonObject } from '../support/http.js';
import { type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** `api.md` 1 and design 3: `Idempotency-Key`. */
const on = roll(stack().a);
const { api } = on;

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const isReplayed = (answer: Answer<unknown>) => answer.headers.get('idempotency-replayed') === 'true';
const positionOf = (answer: Answer<unknown>) => answer.headers.get('rollcall-position');
const itemEvent = {
  type: 'external_conversation_item',
  data: { item_type: 'message', item_data: { role: 'user', content: [{ type: 'input_text', text: 'hi' }] } },
};

interface Commanded {
  readonly path: string;
  readonly body: JsonObject;
  readonly status: number;
  /** What names the thing that was made. */
  readonly id: string | null;
}

const commands: readonly (readonly [string, () => Promise<Commanded>])[] = [
  ['an agent', async () => ({ path: '/v1/agents', body: { name: unique('agent') }, status: 201, id: 'id' })],
  [
    'a session',
    async () => ({ path: '/v1/sessions', body: { agent_id: (await on.agent()).id }, status: 201, id: 'id' }),
  ],
  [
    'a child',
    async () => {
      const { id: parent_session_id } = await on.root();
      return { path: '/v1/sessions', body: { parent_session_id, title: 'a:b' }, status: 201, id: 'id' };
    },
  ],
  ['an item', async () => ({ path: await events(), body: itemEvent, status: 202, id: 'item_id' })],
  [
    'a prompt',
    async () => {
      const body = { type: 'mcp_elicitation', data: { message: 'Go ahead?' } };
      return { path: await events(), body, status: 202, id: 'elicitation_id' };
    },
  ],
  [
    'a status',
    async () => {
      const body = { type: 'external_session_status', data: { status: 'running' } };
      return { path: await events(), body, status: 202, id: null };
    },
  ],
  [
    'a verdict',
    async () => {
      const { id } = await on.root();
      await on.ask(id, { elicitation_id: 'e1' });
      const path = `/v1/sessions/${id}/elicitations/e1/resolve`;
      return { path, body: { action: 'accept' }, status: 202, id: null };
    },
  ],
  [
    'a close',
    async () => ({ path: `/v1/sessions/${(await on.root()).id}/close`, body: {}, status: 200, id: 'id' }),
  ],
];

const events = async () => `/v1/sessions/${(await on.root()).id}/events`;

const madeBy = ({ body }: Answer<JsonObject>, id: string | null) => (id === null ? null : body[id]);

describe.each(commands)('%s under a key', (_, prepare) => {
  it('is made once; the repeat says the same and that it is one', async () => {
    const { path, body, status, id } = await prepare();
    const key = unique('key');
    const first = await api.post(path, body, keyed(key));
    const again = await api.post(path, body, keyed(key));
    expect([first.status, again.status]).toEqual([status, status]);
    expect([isReplayed(first), isReplayed(again)]).toEqual([false, true]);
    expect(positionOf(again)).toBe(positionOf(first));
    expect(madeBy(again, id)).toBe(madeBy(first, id));
  });

  it('is made once by ten at the same time', async () => {
    const { path, body, status, id } = await prepare();
    const key = unique('key');
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.post(path, body, keyed(key))));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(new Set(answers.map(positionOf)).size).toBe(1);
    expect(new Set(answers.map((answer) => madeBy(answer, id))).size).toBe(1);
  });

  it('with another body is 409', async () => {
    const { path, body } = await prepare();
    const key = unique('key');
    await api.post(path, body, keyed(key));
    const answer = await api.post(path, { ...body, ...otherwise(body) }, keyed(key));
    expect([answer.status, answer.body]).toMatchObject([409, { error: { code: 'idempotency_mismatch' } }]);
  });
});

/** A change that leaves the body valid. */
function otherwise(body: JsonObject): JsonObject {
  if ('name' in body) return { spec: { model: 'other' } };
  if ('action' in body) return { action: 'decline' };
  if ('type' in body)
    return { data: { ...(body['data'] as JsonObject), response_id: 'other', blocked_on: 'x' } };
  return 'agent_id' in body || 'title' in body ? { labels: { other: 'yes' } } : { reason: 'cancelled' };
}

it('PATCH under a key is done once', async () => {
  const { id } = await on.root();
  const key = unique('key');
  const send = () => api.patch(`/v1/sessions/${id}`, { title: 'mine' }, keyed(key));
  const first = await send();
  await on.rename(id, 'yours');
  const again = await send();
  expect([first.status, again.status, isReplayed(again)]).toEqual([200, 200, true]);
  // The answer is the same one, its body as it reads now.
  expect(again.body['title']).toBe('yours');
  expect((await on.snapshot(id)).title).toBe('yours');
});

it('the order of keys and the way of writing do not make another body', async () => {
  const agent = await on.agent();
  const key = unique('key');
  const first = await api.post(
    '/v1/sessions',
    { agent_id: agent.id, title: 'é', labels: { a: '1', b: '2' } },
    keyed(key),
  );
  const text = `{ "labels":{"b":"2","a":"1"}, "title":"\\u00e9", "agent_id":"${agent.id}" }`;
  const again = await api.raw<SessionBody>('POST', '/v1/sessions', text, {
    headers: { 'content-type': 'application/json', ...keyed(key).headers },
  });
  expect([again.status, again.body.id]).toEqual([201, first.body['id']]);
});

it('a repeat reads as things are now', async () => {
  const agent = await on.agent();
  const key = unique('key');
  const send = () => api.post<SessionBody>('/v1/sessions', { agent_id: agent.id }, keyed(key));
  const first = await send();
  await on.status(first.body.id, 'running');
  await on.rename(first.body.id, 'renamed');
  const again = await send();
  expect(again.status).toBe(201);
  expect(again.body).toMatchObject({ id: first.body.id, status: 'running', title: 'renamed' });
});

it('a refusal is decided anew', async () => {
  const parent = await on.root();
  const holder = await on.child(parent, { title: 'coder:one' });
  const key = unique('key');
  const send = () =>
    api.post<SessionBody>('/v1/sessions', { parent_session_id: parent.id, title: 'coder:one' }, keyed(key));
  expect((await send()).status).toBe(409);
  await on.close(holder.id);
  const made = await send();
  expect([made.status, isReplayed(made)]).toEqual([201, false]);
  expect((await send()).body.id).toBe(made.body.id);
});

describe('a key counts for its own', () => {
  it('target', async () => {
    const [one, other] = await Promise.all([events(), events()]);
    const key = unique('key');
    const first = await api.post(one, itemEvent, keyed(key));
    const second = await api.post(other, itemEvent, keyed(key));
    expect([second.status, isReplayed(second)]).toEqual([202, false]);
    expect(second.body['item_id']).not.toBe(first.body['item_id']);
  });

  it('route', async () => {
    const { id } = await on.root();
    const key = unique('key');
    await on.event(id, 'external_session_status', { status: 'running' }, keyed(key));
    const closed = await api.post(`/v1/sessions/${id}/close`, {}, keyed(key));
    expect([closed.status, isReplayed(closed)]).toEqual([200, false]);
  });

  it('method', async () => {
    const { id } = await on.root();
    const key = unique('key');
    const patched = await api.patch(`/v1/sessions/${id}`, { title: 'x' }, keyed(key));
    const posted = await api.post(`/v1/sessions/${id}/close`, {}, keyed(key));
    expect([patched, posted].map(isReplayed)).toEqual([false, false]);
  });

  it('principal', async () => {
    const key = unique('key');
    const people = ['alice', 'bob'].map((name) => roll(stack().b, { user: `${unique(name)}@example.test` }));
    const made = await Promise.all(
      people.map(async (person) => {
        const body = { agent_id: (await person.agent()).id };
        return person.api.post<SessionBody>('/v1/sessions', body, keyed(key));
      }),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    expect(made.map(isReplayed)).toEqual([false, false]);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(2);
  });
});

it.each(['', ' ', 'a b', 'x'.repeat(256), 'é', 'tab\there'])('the key %j is 422', async (key) => {
  const { id } = await on.root();
  const answer = await on.event(id, 'external_session_status', { status: 'running' }, keyed(key));
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({ detail: [{ loc: ['header', 'idempotency-key'] }] });
  expect((await on.snapshot(id)).status).toBe('idle');
});

it.each(['x', 'x'.repeat(255), '~!@#$%^&*()'])('the key %j is taken', async (key) => {
  const { id } = await on.root();
  const answer = await on.event(id, 'external_session_status', { status: 'running' }, keyed(key));
  expect(answer.status).toBe(202);
});
