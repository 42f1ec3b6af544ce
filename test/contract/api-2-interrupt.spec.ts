import { afterAll, describe, expect, it } from '@jest/globals';
import { rawEventStore } from '../support/event-store.js';
import { type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

/** `contract/sessions.md` 6.11, `api.md` 2 and design 4, 13.9: events `interrupt` and `stop_session` without a runner. */
const on = roll(stack().a);
const log = rawEventStore(stack().eventStoreUrl);

afterAll(() => log.dispose());

const typesOf = async (id: string): Promise<string[]> =>
  (await log.read(`rollcall.session-${id}`)).map(({ type }) => type);

/** A root with a line of descendants below it, root first. */
async function lineOf(length: number): Promise<SessionBody[]> {
  const line = [await on.root()];
  for (let depth = 1; depth < length; depth += 1) {
    line.push(await on.child(line.at(-1) as SessionBody, { title: `worker:${depth}` }));
  }
  return line;
}

describe.each(['interrupt', 'stop_session'] as const)('%s', (type) => {
  it('ends what the session is doing, and withdraws what it asks', async () => {
    const root = await on.root();
    await on.status(root.id, 'running', { response_id: 'r1' });
    const prompt = await on.ask(root.id);
    const answer = await on.interrupt(root.id, type);
    expect([answer.status, answer.body]).toEqual([202, { queued: false }]);
    expect(await on.snapshot(root.id)).toMatchObject({
      status: 'idle',
      active_response_id: null,
      pending_elicitations: [],
      closed: false,
    });
    expect(await on.prompt(root.id, prompt)).toEqual({ status: 'resolved' });
    const events = await log.read(`rollcall.session-${root.id}`);
    expect(events.slice(-2)).toMatchObject([
      { type: 'ElicitationWithdrawn', data: { elicitation_id: prompt, reason: 'interrupted' } },
      {
        type: 'SessionInterrupted',
        data: { requested: type === 'interrupt' ? 'interrupt' : 'stop', response_id: 'r1', follows: null },
      },
    ]);
  });

  it('of what does nothing is 202 and no event', async () => {
    const root = await on.root();
    for (const status of ['idle', 'failed'] as const) {
      await on.status(root.id, status);
      const before = await typesOf(root.id);
      expect([(await on.interrupt(root.id, type)).status, await typesOf(root.id)]).toEqual([202, before]);
    }
    expect(await on.snapshot(root.id)).toMatchObject({ status: 'failed' });
  });

  it('needs a session that the caller may reach', async () => {
    expect((await on.interrupt(`conv_${'0'.repeat(32)}`, type)).status).toBe(404);
    const person = (name: string) => roll(stack().b, { user: `${unique(name)}@example.test` });
    const [hers, his] = [person('alice'), person('bob')];
    const session = await hers.root();
    await hers.status(session.id, 'running');
    expect((await his.interrupt(session.id, type)).status).toBe(404);
    expect(await hers.snapshot(session.id)).toMatchObject({ status: 'running' });
    expect((await hers.interrupt(session.id, type)).status).toBe(202);
  });
});

it('takes a body with data that says nothing, or none', async () => {
  const root = await on.root();
  for (const body of [
    { type: 'interrupt' },
    { type: 'interrupt', data: null },
    { type: 'interrupt', data: { why: 1 } },
  ]) {
    await on.status(root.id, 'running');
    expect((await on.api.post(`/v1/sessions/${root.id}/events`, body)).status).toBe(202);
    expect((await on.api.get(`/v1/sessions/${root.id}`)).body).toMatchObject({ status: 'idle' });
  }
});

it('F028: at the root ends every level below, once, and every count falls to 0', async () => {
  const line = await lineOf(5);
  for (const { id } of line) {
    await on.status(id, 'waiting');
    await on.ask(id, { elicitation_id: `E-${id}` });
  }
  expect(await on.snapshot(line[0]?.id ?? '')).toMatchObject({ pending_elicitations_count: 5 });
  const answer = await on.interrupt(line[0]?.id ?? '');
  expect([answer.status, answer.body]).toEqual([202, { queued: false }]);
  for (const { id } of line) {
    expect(await on.snapshot(id)).toMatchObject({
      status: 'idle',
      pending_elicitations: [],
      pending_elicitations_count: 0,
    });
    const types = await typesOf(id);
    expect(types.filter((type) => type === 'ElicitationWithdrawn')).toHaveLength(1);
    expect(types.filter((type) => type === 'SessionInterrupted')).toHaveLength(1);
  }
  const list = await on.api.get<{ data: SessionBody[] }>('/v1/sessions?kind=any&limit=1000');
  const rows = list.body.data.filter(({ id }) => line.some((session) => session.id === id));
  expect(rows.map(({ status }) => status)).toEqual(line.map(() => 'idle'));
});

it('passes through what is idle or closed, and leaves siblings and ancestors alone', async () => {
  const [root, idle, closed, busy] = (await lineOf(4)) as [
    SessionBody,
    SessionBody,
    SessionBody,
    SessionBody,
  ];
  const sibling = await on.child(root, { title: 'sibling' });
  await on.close(closed.id);
  for (const { id } of [root, busy, sibling]) await on.status(id, 'running');
  expect((await on.interrupt(idle.id)).body).toEqual({ queued: false });
  expect(await on.snapshot(busy.id)).toMatchObject({ status: 'idle' });
  for (const { id } of [root, sibling]) expect(await on.snapshot(id)).toMatchObject({ status: 'running' });
  expect(await typesOf(closed.id)).not.toContain('SessionInterrupted');
});

it('F017: a second interrupt finds nothing more, and the session works on', async () => {
  const [root, child] = (await lineOf(2)) as [SessionBody, SessionBody];
  const prompt = await on.ask(child.id);
  await on.status(child.id, 'waiting');
  expect((await on.interrupt(root.id)).status).toBe(202);
  const before = await typesOf(child.id);
  expect((await on.interrupt(root.id)).status).toBe(202);
  expect((await on.interrupt(child.id)).status).toBe(202);
  expect(await typesOf(child.id)).toEqual(before);
  expect(await on.row(child)).toMatchObject({
    busy: false,
    current_task_status: 'completed',
    pending_elicitations_count: 0,
  });
  const late = await on.resolve(child.id, prompt, { action: 'accept' });
  expect([late.status, late.headers.get('rollcall-resolution')]).toEqual([202, 'withdrawn']);
  await on.status(child.id, 'running');
  await on.ask(child.id);
  expect(await on.row(child)).toMatchObject({ busy: true, pending_elicitations_count: 1 });
});

it('a repeat under its key is the same answer, and takes nothing that began meanwhile', async () => {
  const [root, child] = (await lineOf(2)) as [SessionBody, SessionBody];
  const key = { headers: { 'idempotency-key': unique('interrupt') } };
  await on.status(child.id, 'running');
  const first = await on.event(root.id, 'interrupt', {}, key);
  await on.status(child.id, 'running');
  const again = await on.event(root.id, 'interrupt', {}, key);
  expect([again.status, again.body]).toEqual([first.status, first.body]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await on.snapshot(child.id)).toMatchObject({ status: 'running' });
});

it('answers at once where the client does not wait, says so, and is carried through', async () => {
  const [root, child] = (await lineOf(2)) as [SessionBody, SessionBody];
  await on.status(child.id, 'running');
  const prefer = { headers: { prefer: 'respond-async' } };
  const answer = await on.event(root.id, 'interrupt', {}, prefer);
  expect([answer.status, answer.body]).toEqual([202, { queued: false, cascade: 'running' }]);
  await until('the child to be interrupted', async () => (await on.snapshot(child.id)).status === 'idle');
  await until('the end to be recorded', async () => (await typesOf(root.id)).at(-1) === 'CascadeCompleted');
});

it('F098: leaves a history that can be read, with the call that has no output', async () => {
  const [, child] = (await lineOf(2)) as [SessionBody, SessionBody];
  await on.status(child.id, 'running', { response_id: 'r1' });
  await on.message(child.id, 'user', 'Run the tests.');
  const call = {
    item_type: 'function_call',
    item_data: { agent: 'worker', name: 'bash', arguments: '{}', call_id: 'c1' },
  };
  expect((await on.event(child.id, 'external_conversation_item', call)).status).toBe(202);
  await on.interrupt(child.id);
  await on.message(child.id, 'assistant', '');
  await on.message(child.id, 'user', 'Go on without them.');
  await on.message(child.id, 'assistant', [{ type: 'output_text', text: '' }]);
  const items = await on.items(child.id);
  expect(items.map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'message',
    'message',
    'message',
  ]);
  expect(items.filter((item) => item['call_id'] === 'c1')).toHaveLength(1);
  expect(await on.row(child)).toMatchObject({ busy: false, last_message_preview: 'Go on without them.' });
  await on.status(child.id, 'running', { response_id: 'r2' });
  expect(await on.snapshot(child.id)).toMatchObject({ status: 'running', active_response_id: 'r2' });
});
