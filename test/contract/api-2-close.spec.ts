import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** `api.md` 2 and design 13.4, 13.9: `POST /v1/sessions/{id}/close`. */
const on = roll(stack().a);

async function family(): Promise<{ parent: SessionBody; child: SessionBody }> {
  const parent = await on.root();
  return { parent, child: await on.child(parent, { title: 'researcher:auth' }) };
}

const post = (id: string, body?: unknown) => on.api.post<SessionBody>(`/v1/sessions/${id}/close`, body);

it('answers with the closed session, without its items', async () => {
  const { child } = await family();
  await on.message(child.id, 'user', 'hi');
  const answer = await post(child.id, {});
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    id: child.id,
    title: 'researcher:auth',
    closed: true,
    items: [],
    labels: { 'omnigent.closed': 'true' },
  });
  expect(await on.snapshot(child.id)).toEqual({ ...answer.body, items: [expect.anything()] });
  expect(await on.row(child)).toMatchObject({
    title: 'researcher:auth',
    labels: { 'omnigent.closed': 'true' },
  });
});

it('again is the same answer and no event', async () => {
  const { child } = await family();
  const first = await post(child.id, { reason: 'done' });
  const again = await post(child.id, { reason: 'cancelled' });
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
});

it('ten at the same time is one event', async () => {
  const { child } = await family();
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(child.id, {})));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(new Set(answers.map(({ body }) => body['position'])).size).toBe(1);
});

it.each([
  undefined,
  {},
  { reason: null },
  { reason: 'done' },
  { reason: 'cancelled' },
  { reason: 'compacted' },
])('takes the body %j', async (body) => {
  expect((await post((await on.root()).id, body)).status).toBe(200);
});

it.each([{ reason: 'tired' }, { reason: 7 }, { because: 'done' }, [], 'done'])(
  'refuses the body %j',
  async (body) => {
    const root = await on.root();
    expect((await post(root.id, body)).status).toBe(422);
    expect(await on.snapshot(root.id)).toMatchObject({ closed: false });
  },
);

it('a successor that is no id is 404', async () => {
  const root = await on.root();
  expect((await post(root.id, { successor_session_id: 'nope' })).status).toBe(404);
  expect(await on.snapshot(root.id)).toMatchObject({ closed: false });
});

it('a successor that nobody knows, or that belongs to somebody else, is 404 and named', async () => {
  const person = (name: string) => roll(stack().b, { user: `${unique(name)}@example.test` });
  const [hers, his] = [person('alice'), person('bob')];
  const session = await hers.root();
  for (const successor of [`conv_${'0'.repeat(32)}`, (await his.root()).id]) {
    const body = { successor_session_id: successor };
    const answer = await hers.api.post(`/v1/sessions/${session.id}/close`, body);
    expect([answer.status, answer.body]).toEqual([
      404,
      { error: { code: 'not_found', message: `Successor session ${successor} not found` } },
    ]);
  }
  expect(await hers.snapshot(session.id)).toMatchObject({ closed: false });
  const own = { successor_session_id: (await hers.root()).id };
  expect((await hers.api.post(`/v1/sessions/${session.id}/close`, own)).status).toBe(200);
});

describe('a closed session', () => {
  it('refuses user messages, and only those', async () => {
    const { child } = await family();
    await on.close(child.id);
    const content = [{ type: 'input_text', text: 'please continue' }];
    const refused = await on.event(child.id, 'message', { role: 'user', content });
    expect([refused.status, refused.body]).toEqual([
      409,
      { error: { code: 'conflict', message: 'Session is closed' } },
    ]);
    await on.message(child.id, 'user', 'a late mirror of what was said');
    await on.message(child.id, 'assistant', 'the last words');
    await on.status(child.id, 'idle');
    await on.rename(child.id, 'researcher:renamed');
    expect(await on.row(child)).toMatchObject({
      title: 'researcher:renamed',
      last_message_preview: 'the last words',
      current_task_status: 'completed',
      labels: { 'omnigent.closed': 'true' },
    });
  });

  it('says it is malformed before it says it is closed', async () => {
    const { child } = await family();
    await on.close(child.id);
    expect((await on.event(child.id, 'message', { role: 'user', content: 'text' })).status).toBe(400);
  });

  it('takes no new children', async () => {
    const { parent } = await family();
    await on.close(parent.id);
    const answer = await on.api.post('/v1/sessions', { parent_session_id: parent.id, title: 'late:comer' });
    expect([answer.status, answer.body]).toMatchObject([
      409,
      { error: { code: 'conflict', message: expect.stringContaining('Session is closed') } },
    ]);
    expect(await on.children(parent.id)).toHaveLength(1);
  });

  it('leaves its children as they are', async () => {
    const { parent, child } = await family();
    await on.ask(child.id);
    await on.close(parent.id);
    expect(await on.snapshot(child.id)).toMatchObject({ closed: false, pending_elicitations_count: 1 });
    expect(await on.snapshot(parent.id)).toMatchObject({ pending_elicitations_count: 1 });
  });

  it('has no open prompts, and says so to a late verdict', async () => {
    const { parent, child } = await family();
    const ids = [await on.ask(child.id), await on.ask(child.id)];
    await on.close(child.id);
    expect(await on.row(child)).toMatchObject({ pending_elicitations_count: 0 });
    expect((await on.snapshot(parent.id)).pending_elicitations).toEqual([]);
    for (const id of ids) {
      expect(await on.prompt(child.id, id)).toEqual({ status: 'resolved' });
      const late = await on.resolve(child.id, id, { action: 'accept' });
      expect([late.status, late.headers.get('rollcall-resolution')]).toEqual([202, 'withdrawn']);
    }
  });

  it('cannot be opened by writing its label', async () => {
    const { child } = await family();
    await on.close(child.id);
    await on.api.patch(`/v1/sessions/${child.id}`, { labels: { 'omnigent.closed': 'false' } });
    expect(await on.snapshot(child.id)).toMatchObject({
      closed: true,
      labels: { 'omnigent.closed': 'true' },
    });
  });
});

it('the label alone closes nothing: closed is a state', async () => {
  const { child } = await family();
  await on.api.patch(`/v1/sessions/${child.id}`, { labels: { 'omnigent.closed': 'true', colour: 'red' } });
  expect(await on.snapshot(child.id)).toMatchObject({ closed: false, labels: { colour: 'red' } });
  expect((await on.snapshot(child.id)).labels).not.toHaveProperty('omnigent.closed');
});

it('an unknown session is 404', async () => {
  expect((await post(randomUUID(), {})).status).toBe(404);
});

describe('a session closed in the middle of its work', () => {
  it('is busy no more, nor are those above it, whatever edges still come', async () => {
    const { parent, child } = await family();
    await on.status(child.id, 'running');
    await post(child.id, {});
    for (const late of [null, 'running', 'waiting'] as const) {
      if (late) await on.status(child.id, late);
      expect(await on.row(child)).toMatchObject({ busy: false });
      const listed = await on.api.get<{ data: SessionBody[] }>(
        `/v1/sessions?limit=1000&agent_id=${parent.agent_id}`,
      );
      expect(listed.body.data.find(({ id }) => id === parent.id)).toMatchObject({ status: 'idle' });
    }
  });

  it('keeps no prompt open that is asked afterwards', async () => {
    const { parent, child } = await family();
    await post(child.id, {});
    await on.ask(child.id, { elicitation_id: 'late' });
    expect(await on.row(child)).toMatchObject({ pending_elicitations_count: 0 });
    expect((await on.snapshot(parent.id)).pending_elicitations).toEqual([]);
  });
});

it('creation refuses what it would lose', async () => {
  const parent = await on.root();
  const answer = await on.api.post('/v1/sessions', {
    parent_session_id: parent.id,
    initial_items: [{ type: 'message', data: {} }],
  });
  expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_input' } }]);
});
