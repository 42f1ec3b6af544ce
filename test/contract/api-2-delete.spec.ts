import { afterAll, describe, expect, it } from '@jest/globals';
import { rawEventStore } from '../support/event-store.js';
import { type List, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';
import { named, sessionRoutes } from './session-routes.js';

/** `contract/sessions.md` 3.6, `api.md` 2 and design 4, 11, 13.9: `DELETE /v1/sessions/{id}`. */
const on = roll(stack().a);
const log = rawEventStore(stack().eventStoreUrl);
const NOT_FOUND = { error: { code: 'not_found', message: 'Session not found' } };

afterAll(() => log.dispose());

const typesOf = async (id: string): Promise<string[]> =>
  (await log.read(`rollcall.session-${id}`)).map(({ type }) => type);
const person = (name: string) => roll(stack().b, { user: `${unique(name)}@example.test` });

/** A root, two children, and a grandchild below the first. */
async function family(): Promise<Record<'root' | 'first' | 'second' | 'grandchild', SessionBody>> {
  const root = await on.root();
  const first = await on.child(root, { title: 'worker:1' });
  const second = await on.child(root, { title: 'worker:2' });
  return { root, first, second, grandchild: await on.child(first, { title: 'helper:1' }) };
}

it('answers as the contract says, and the session is not there any more', async () => {
  const root = await on.root();
  const answer = await on.remove(root.id);
  expect([answer.status, answer.body]).toEqual([
    200,
    { id: root.id, object: 'conversation.deleted', deleted: true },
  ]);
  expect((await typesOf(root.id)).at(-1)).toBe('SessionDeleted');
  expect(await typesOf(root.id)).not.toContain('CascadeCompleted');
});

it('again, or of what never was, is 404', async () => {
  const root = await on.root();
  await on.remove(root.id);
  for (const id of [root.id, `conv_${'0'.repeat(32)}`]) {
    const again = await on.remove(id);
    expect([again.status, again.body]).toEqual([404, NOT_FOUND]);
  }
  expect((await on.remove('nope')).status).toBe(404);
  expect((await typesOf(root.id)).filter((type) => type === 'SessionDeleted')).toHaveLength(1);
});

it('under its key again is the same answer and no event', async () => {
  const { root } = await family();
  const key = { headers: { 'idempotency-key': unique('delete') } };
  const first = await on.api.delete(`/v1/sessions/${root.id}`, key);
  const before = await typesOf(root.id);
  const again = await on.api.delete(`/v1/sessions/${root.id}`, key);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await typesOf(root.id)).toEqual(before);
});

it('ten at the same time is one deletion: one 200, nine 404', async () => {
  const { root } = await family();
  const answers = await Promise.all(Array.from({ length: 10 }, () => on.remove(root.id)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(404)]);
  expect((await typesOf(root.id)).filter((type) => type === 'SessionDeleted')).toHaveLength(1);
});

it.each(['?delete_branch=true', '?delete_branch=false'])('takes %s', async (query) => {
  expect((await on.api.delete(`/v1/sessions/${(await on.root()).id}${query}`)).status).toBe(200);
});

it('refuses a query that is malformed, and deletes nothing', async () => {
  const root = await on.root();
  expect((await on.api.delete(`/v1/sessions/${root.id}?delete_branch=maybe`)).status).toBe(422);
  expect(await on.snapshot(root.id)).toMatchObject({ id: root.id });
});

it('with a version that is not the newest is 412, and deletes nothing', async () => {
  const { root, first } = await family();
  const ifMatch = (version: string) => ({ headers: { 'if-match': version } });
  const etag = (await on.api.get(`/v1/sessions/${root.id}`)).headers.get('etag') ?? '';
  await on.message(root.id, 'user', 'one more thing');
  expect((await on.api.delete(`/v1/sessions/${root.id}`, ifMatch(etag))).status).toBe(412);
  expect(await on.snapshot(first.id)).toMatchObject({ id: first.id });
  const newest = (await on.api.get(`/v1/sessions/${root.id}`)).headers.get('etag') ?? '';
  expect((await on.api.delete(`/v1/sessions/${root.id}`, ifMatch(newest))).status).toBe(200);
});

it('is for the owner alone: to anybody else the session is not there', async () => {
  const [hers, his] = [person('alice'), person('bob')];
  const session = await hers.root();
  const answer = await his.remove(session.id);
  expect([answer.status, answer.body]).toEqual([404, NOT_FOUND]);
  expect(await hers.snapshot(session.id)).toMatchObject({ id: session.id });
  expect((await hers.remove(session.id)).status).toBe(200);
});

it('F076: a repeated create of what was deleted is 410, and brings nothing back', async () => {
  const agent = await on.agent();
  const key = { headers: { 'idempotency-key': unique('create') } };
  const body = { agent_id: agent.id };
  const made = await on.api.post<SessionBody>('/v1/sessions', body, key);
  await on.remove(made.body.id);
  const again = await on.api.post('/v1/sessions', body, key);
  expect([again.status, again.body]).toEqual([
    410,
    { error: { code: 'gone', message: 'The session was deleted since.' } },
  ]);
  expect((await on.api.get(`/v1/sessions/${made.body.id}`)).status).toBe(404);
});

describe('what lies below', () => {
  it('F006, F009: goes with it: every route of every session is 404, and none pops up elsewhere', async () => {
    const { root, ...below } = await family();
    await on.status(below.first.id, 'running');
    await on.ask(below.grandchild.id, { elicitation_id: 'elicit_1' });
    expect((await on.remove(root.id)).status).toBe(200);
    for (const { id } of [root, ...Object.values(below)]) {
      for (const route of sessionRoutes(id)) {
        const json = { headers: { 'content-type': 'application/json' } };
        const answer = await on.api.raw(
          route.method,
          route.path,
          route.body && JSON.stringify(route.body),
          route.body && json,
        );
        expect([named(route), answer.status, answer.body]).toEqual([named(route), 404, NOT_FOUND]);
      }
    }
    const orphan = await on.api.post('/v1/sessions', { parent_session_id: below.first.id });
    expect(orphan.status).toBe(404);
    const ids = [root, ...Object.values(below)].map(({ id }) => id);
    for (const kind of ['default', 'sub_agent', 'any']) {
      for (const sort of ['created_at', 'updated_at']) {
        const list = await on.api.get<List<SessionBody>>(
          `/v1/sessions?kind=${kind}&sort_by=${sort}&limit=1000`,
        );
        expect(list.body.data.filter(({ id }) => ids.includes(id))).toEqual([]);
      }
    }
  });

  it('has one deletion each, withdraws what it asks, and the end is said once', async () => {
    const { root, first, second, grandchild } = await family();
    await on.close(second.id);
    await on.status(grandchild.id, 'waiting');
    const prompt = await on.ask(grandchild.id);
    await on.remove(root.id);
    for (const { id } of [root, first, second, grandchild]) {
      expect((await typesOf(id)).filter((type) => type === 'SessionDeleted')).toHaveLength(1);
    }
    expect((await log.read(`rollcall.session-${grandchild.id}`)).slice(-2)).toMatchObject([
      { type: 'ElicitationWithdrawn', data: { elicitation_id: prompt, reason: 'deleted' } },
      { type: 'SessionDeleted', data: { follows: { session_id: root.id, sequence: 1 }, children: 0 } },
    ]);
    expect((await typesOf(root.id)).slice(-2)).toEqual(['SessionDeleted', 'CascadeCompleted']);
    for (const { id } of [first, second, grandchild])
      expect(await typesOf(id)).not.toContain('CascadeCompleted');
  });

  it('does not count above it any more', async () => {
    const { root, first, second, grandchild } = await family();
    for (const { id } of [first, second, grandchild]) {
      await on.status(id, 'running');
      await on.ask(id);
    }
    expect(await on.snapshot(root.id)).toMatchObject({ pending_elicitations_count: 3 });
    await on.remove(first.id);
    expect(await on.snapshot(root.id)).toMatchObject({
      pending_elicitations_count: 1,
      pending_elicitations: [{ params: { target_session_id: second.id } }],
    });
    expect((await on.children(root.id)).map(({ id }) => id)).toEqual([second.id]);
    await on.remove(second.id);
    expect(await on.snapshot(root.id)).toMatchObject({ pending_elicitations_count: 0 });
    expect(await on.children(root.id)).toEqual([]);
    const list = await on.api.get<List<SessionBody>>('/v1/sessions?limit=1000');
    expect(list.body.data.find(({ id }) => id === root.id)).toMatchObject({ status: 'idle' });
  });

  it('that was deleted before stays as it was', async () => {
    const { root, first, grandchild } = await family();
    await on.remove(first.id);
    const before = await typesOf(grandchild.id);
    expect((await on.remove(root.id)).status).toBe(200);
    expect(await typesOf(grandchild.id)).toEqual(before);
  });

  it('is hidden at once where the client does not wait, and reached soon', async () => {
    const { root, grandchild, second } = await family();
    await on.ask(grandchild.id);
    const parent = await on.root();
    const prefer = { headers: { prefer: 'respond-async' } };
    const answer = await on.api.delete(`/v1/sessions/${root.id}`, prefer);
    expect([answer.status, answer.body]).toEqual([
      202,
      { id: root.id, object: 'conversation.deleted', deleted: true, cascade: 'running' },
    ]);
    // Commands below are refused at once; reads as soon as they know of the deletion.
    const late = await on.event(second.id, 'external_assistant_message', { agent: 'w', text: 'late' });
    expect([late.status, late.body]).toEqual([404, NOT_FOUND]);
    const seen = { headers: { 'rollcall-min-position': answer.headers.get('rollcall-position') ?? '' } };
    expect((await on.api.get(`/v1/sessions/${grandchild.id}`, seen)).status).toBe(404);
    expect((await on.api.get(`/v1/sessions/${parent.id}`, seen)).status).toBe(200);
    await until('everything below to be reached', async () =>
      (await typesOf(root.id)).includes('CascadeCompleted'),
    );
    expect((await typesOf(grandchild.id)).slice(-2)).toEqual(['ElicitationWithdrawn', 'SessionDeleted']);
  });
});

describe('a deleted child', () => {
  it('frees its name, once', async () => {
    const { root, first } = await family();
    await on.remove(first.id);
    const released = (await log.read(`rollcall.session-${root.id}`)).filter(
      ({ type }) => type === 'ChildReleased',
    );
    expect(released).toMatchObject([{ data: { child_id: first.id } }]);
    const heir = await on.child(root, { title: 'worker:1' });
    expect((await on.children(root.id)).map(({ id }) => id)).toContain(heir.id);
    await on.remove(heir.id);
    await on.child(root, { title: 'worker:1' });
  });

  it('takes nothing from its siblings and its parent', async () => {
    const { root, first, second } = await family();
    await on.status(root.id, 'running');
    await on.remove(first.id);
    await on.status(second.id, 'running');
    expect(await on.row(second)).toMatchObject({ busy: true });
    expect(await on.snapshot(root.id)).toMatchObject({ status: 'running' });
  });

  it('is no successor, and no place for a verdict', async () => {
    const { root, first, second, grandchild } = await family();
    const prompt = await on.ask(grandchild.id);
    await on.remove(first.id);
    const close = await on.api.post(`/v1/sessions/${second.id}/close`, { successor_session_id: first.id });
    expect(close.status).toBe(404);
    const verdict = await on.resolve(root.id, prompt, { action: 'accept' });
    expect([verdict.status, verdict.headers.get('rollcall-resolution')]).toEqual([202, null]);
    expect(await typesOf(grandchild.id)).not.toContain('ElicitationResolved');
  });

  it('does not stand in the way of paging', async () => {
    const root = await on.root();
    for (const n of [1, 2, 3, 4]) await on.child(root, { title: `w:${n}` });
    const path = `/v1/sessions/${root.id}/child_sessions?limit=2`;
    const page = (await on.api.get<List<SessionBody>>(path)).body;
    await on.remove(page.last_id ?? '');
    const rest = await on.api.get<List<SessionBody>>(`${path}&after=${page.last_id ?? ''}`);
    expect(rest.body.data.map(({ title }) => title)).toEqual(['w:2', 'w:1']);
  });
});
