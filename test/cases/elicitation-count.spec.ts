import { afterAll, describe, expect, it } from '@jest/globals';
import { rawEventStore } from '../support/event-store.js';
import type { JsonObject } from '../support/http.js';
import { type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** Area "elicitation count". */
const on = roll(stack().a);
const log = rawEventStore(stack().eventStoreUrl);
afterAll(() => log.dispose());

async function chain(length: number): Promise<readonly SessionBody[]> {
  const sessions = [await on.root()];
  for (let level = 1; level < length; level += 1) {
    const [parent] = sessions.slice(-1);
    if (parent) sessions.push(await on.child(parent, { title: `level:${level}` }));
  }
  return sessions;
}

async function counts({ id }: SessionBody) {
  const { pending_elicitations_count, pending_self } = await on.snapshot(id);
  return [pending_elicitations_count, pending_self];
}

it('F027: who watches the root alone learns of a prompt two levels down, and can answer it there', async () => {
  const [root, child, grandchild] = await chain(3);
  const stranger = await on.root();
  if (!root || !child || !grandchild) throw new Error('the chain is too short');
  const id = await on.ask(grandchild.id, { message: 'From below' });
  expect((await on.snapshot(root.id)).pending_elicitations).toMatchObject([
    { elicitation_id: id, params: { message: 'From below', target_session_id: grandchild.id } },
  ]);
  expect(await on.row(child)).toMatchObject({ pending_elicitations_count: 1, pending_self: 0 });
  expect((await on.snapshot(stranger.id)).pending_elicitations).toEqual([]);
  await on.resolve(stranger.id, id, { action: 'accept' });
  expect(await on.prompt(grandchild.id, id)).toMatchObject({ status: 'pending' });
  await on.resolve(root.id, id, { action: 'accept' });
  expect(await on.prompt(grandchild.id, id)).toEqual({ status: 'resolved' });
});

it('F028: with a prompt on each of five levels, each level counts its own and those below, once', async () => {
  const sessions = await chain(5);
  for (const { id } of sessions) await on.ask(id);
  expect(await Promise.all(sessions.map(counts))).toEqual([
    [5, 1],
    [4, 1],
    [3, 1],
    [2, 1],
    [1, 1],
  ]);
  const rows = await Promise.all(sessions.slice(1).map((session) => on.row(session)));
  expect(rows.map((row) => row.pending_elicitations_count)).toEqual([4, 3, 2, 1]);
  for (const { id } of [...sessions].reverse()) await on.status(id, 'failed');
  expect(await Promise.all(sessions.map(counts))).toEqual(sessions.map(() => [0, 0]));
});

describe('F034: a verdict without an id settles none of three', () => {
  it.each<JsonObject>([{}, { elicitation_id: null }, { elicitation_id: '' }])('%j is 422', async (data) => {
    const { id } = await on.root();
    for (let index = 0; index < 3; index += 1) await on.ask(id);
    const answer = await on.event(id, 'approval', { action: 'accept', ...data });
    expect(answer.status).toBe(422);
    expect((await on.snapshot(id)).pending_elicitations).toHaveLength(3);
  });

  it('nor does a path without one, which is no route', async () => {
    const { id } = await on.root();
    await on.ask(id);
    const path = `/v1/sessions/${id}/elicitations//resolve`;
    expect((await on.api.post(path, { action: 'accept' })).status).toBe(404);
    expect((await on.snapshot(id)).pending_elicitations).toHaveLength(1);
  });
});

describe('F036: content is looked at on accept alone', () => {
  const requestedSchema = {
    type: 'object',
    properties: {
      colour: { type: 'string', enum: ['red', 'blue'] },
      count: { type: 'integer', minimum: 1 },
    },
    required: ['colour'],
  };

  async function asked(): Promise<{ session: string; id: string }> {
    const session = (await on.root()).id;
    return { session, id: await on.ask(session, { requestedSchema }) };
  }

  async function verdictOf(session: string): Promise<JsonObject | undefined> {
    const events = await log.read(`rollcall.session-${session}`);
    return events.find(({ type }) => type === 'ElicitationResolved')?.data;
  }

  it.each([
    { action: 'decline' },
    { action: 'cancel', content: null },
    { action: 'decline', content: { bad: 1 } },
    { action: 'cancel', content: { colour: 'green' } },
  ])('%j needs none and keeps none', async (body) => {
    const { session, id } = await asked();
    expect((await on.resolve(session, id, body)).status).toBe(202);
    expect(await on.prompt(session, id)).toEqual({ status: 'resolved' });
    expect(await verdictOf(session)).toMatchObject({ action: body.action, content: null });
  });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{}, ['colour']],
    [{ content: null }, ['colour']],
    [{ content: {} }, ['colour']],
    [{ content: { colour: 'green' } }, ['colour']],
    [{ content: { colour: 'red', count: 0 } }, ['count']],
    [{ content: { colour: 'red', count: '1' } }, ['count']],
  ])('accept with %j is 422, names the field and leaves the prompt open', async (more, field) => {
    const { session, id } = await asked();
    for (const answer of [
      await on.resolve(session, id, { action: 'accept', ...more }),
      await on.event(session, 'approval', { elicitation_id: id, action: 'accept', ...more }),
    ]) {
      expect(answer.status).toBe(422);
      const { detail } = answer.body as { detail: { loc: string[] }[] };
      expect(detail[0]?.loc.slice(-1)).toEqual(field);
    }
    expect(await on.prompt(session, id)).toMatchObject({ status: 'pending' });
  });

  it.each([{ colour: 'red' }, { colour: 'blue', count: 3, more: ['is', 'kept'] }])(
    'accept with content %j is taken and kept',
    async (content) => {
      const { session, id } = await asked();
      expect((await on.resolve(session, id, { action: 'accept', content })).status).toBe(202);
      expect(await verdictOf(session)).toMatchObject({ action: 'accept', content });
    },
  );

  it.each(['ACCEPT', 'maybe', ''])('the action %j is 422', async (action) => {
    const { session, id } = await asked();
    expect((await on.resolve(session, id, { action })).status).toBe(422);
    expect(await on.prompt(session, id)).toMatchObject({ status: 'pending' });
  });

  it.each<JsonObject>([
    { type: 'nonsense' },
    { $ref: 'https://example.test/other.json' },
    { properties: { a: { pattern: '(' } } },
    { $async: true },
  ])('the schema %j asks for nothing, and stops nobody', async (schema) => {
    const { id } = await on.root();
    const prompt = await on.ask(id, { requestedSchema: schema });
    expect((await on.resolve(id, prompt, { action: 'accept', content: { any: 1 } })).status).toBe(202);
    expect(await on.prompt(id, prompt)).toEqual({ status: 'resolved' });
  });
});
