import { describe, expect, it } from '@jest/globals';
import { type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** `api.md` 1: `ETag` and `If-Match`. */
const on = roll(stack().a);
const { api } = on;

const etagOf = async (id: string) => (await api.get(`/v1/sessions/${id}`)).headers.get('etag') ?? '';
const matching = (etag: string) => ({ headers: { 'if-match': etag } });

it('the tag is the position of the last event on the own stream, in quotes', async () => {
  const { id } = await on.root();
  const written = await on.event(id, 'external_session_status', { status: 'running' });
  const tag = `"${written.headers.get('rollcall-position') ?? ''}"`;
  expect(await etagOf(id)).toBe(tag);
  const other = await on.root();
  await on.message(other.id, 'user', 'elsewhere');
  expect(await etagOf(id)).toBe(tag);
});

it("a child's doings do not move its parent's tag", async () => {
  const parent = await on.root();
  const child = await on.child(parent, { title: 'a:b' });
  const tag = await etagOf(parent.id);
  await on.status(child.id, 'running');
  await on.ask(child.id);
  expect(await etagOf(parent.id)).toBe(tag);
});

it('writes that answer with a session carry its tag', async () => {
  const agent = await on.agent();
  const created = await api.post<SessionBody>('/v1/sessions', { agent_id: agent.id });
  expect(created.headers.get('etag')).toBe(await etagOf(created.body.id));
  const patched = await api.patch(`/v1/sessions/${created.body.id}`, { title: 'named' });
  expect(patched.headers.get('etag')).toBe(await etagOf(created.body.id));
  expect(patched.headers.get('etag')).not.toBe(created.headers.get('etag'));
});

describe.each([
  ['PATCH', (id: string, tag: string) => api.patch(`/v1/sessions/${id}`, { title: 'new' }, matching(tag))],
  ['close', (id: string, tag: string) => api.post(`/v1/sessions/${id}/close`, {}, matching(tag))],
] as const)('If-Match on %s', (_, send) => {
  it('goes through with the current tag, and with *', async () => {
    const [one, other] = await Promise.all([on.root(), on.root()]);
    expect((await send(one.id, await etagOf(one.id))).status).toBe(200);
    expect((await send(other.id, '*')).status).toBe(200);
  });

  it('with an old tag is 412 and changes nothing', async () => {
    const { id } = await on.root();
    const old = await etagOf(id);
    await on.status(id, 'running');
    const before = await on.snapshot(id);
    const answer = await send(id, old);
    expect([answer.status, answer.body]).toMatchObject([412, { error: { code: 'precondition_failed' } }]);
    expect(await on.snapshot(id)).toEqual(before);
  });

  it.each(['7', '"seven"', 'W/"7"', '"1", "2"', '""', '"-1"'])('malformed %s is 400', async (tag) => {
    const { id } = await on.root();
    const answer = await send(id, tag);
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_input' } }]);
  });
});

it.each(['root', 'child'] as const)(
  'a keyed PATCH of a %s with its tag is repeatable; another key with that tag is 412',
  async (which) => {
    const root = await on.root();
    const { id } = which === 'root' ? root : await on.child(root, { title: 'coder:one' });
    const tag = await etagOf(id);
    const rename = (key: string) =>
      api.patch(
        `/v1/sessions/${id}`,
        { title: 'coder:two' },
        { headers: { 'if-match': tag, 'idempotency-key': key } },
      );
    const first = await rename('one');
    const again = await rename('one');
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect((await rename('two')).status).toBe(412);
  },
);

it('of many writers with one tag exactly one goes through', async () => {
  const { id } = await on.root();
  const tag = await etagOf(id);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      api.patch(`/v1/sessions/${id}`, { title: `writer ${index}` }, matching(tag)),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
});

it('a rename of a child that is refused as outdated takes no name under the parent', async () => {
  const parent = await on.root();
  const child = await on.child(parent, { title: 'coder:one' });
  const old = await etagOf(child.id);
  await on.status(child.id, 'running');
  const answer = await api.patch(`/v1/sessions/${child.id}`, { title: 'coder:two' }, matching(old));
  expect(answer.status).toBe(412);
  const sibling = await api.post('/v1/sessions', { parent_session_id: parent.id, title: 'coder:two' });
  expect(sibling.status).toBe(201);
  const twin = await api.post('/v1/sessions', { parent_session_id: parent.id, title: 'coder:one' });
  expect(twin.status).toBe(409);
  expect((await on.snapshot(child.id)).title).toBe('coder:one');
});

it('of many renames of a child with one tag, on two nodes, exactly one goes through', async () => {
  const hers = roll(stack().b, { user: `${unique('alice')}@example.test` });
  const parent = await hers.root();
  const child = await hers.child(parent, { title: 'coder:start' });
  const tag = (await hers.api.get(`/v1/sessions/${child.id}`)).headers.get('etag') ?? '';
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? on : hers).api.patch(
        `/v1/sessions/${child.id}`,
        { title: `coder:${index}` },
        matching(tag),
      ),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
});
