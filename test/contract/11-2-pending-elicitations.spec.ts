import { describe, expect, it } from '@jest/globals';
import { type PromptBody, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** `contract/sessions.md` 11.2: the rules of an index in memory, as what a client sees of them. */
const on = roll(stack().a);

async function family(): Promise<{ parent: SessionBody; child: SessionBody }> {
  const parent = await on.root();
  return { parent, child: await on.child(parent, { title: 'researcher:auth' }) };
}

const count = async (child: SessionBody) => (await on.row(child)).pending_elicitations_count;

async function open(sessionId: string): Promise<readonly PromptBody[]> {
  return (await on.snapshot(sessionId)).pending_elicitations;
}

const idsOf = (prompts: readonly PromptBody[]) => prompts.map(({ elicitation_id }) => elicitation_id);

it('row 1: a request counts 1', async () => {
  const { child } = await family();
  await on.ask(child.id, { elicitation_id: 'elicit_1' });
  expect(await count(child)).toBe(1);
});

it('row 2: the same id again counts once', async () => {
  const { child } = await family();
  await on.ask(child.id, { elicitation_id: 'elicit_1', message: 'One?' });
  await on.ask(child.id, { elicitation_id: 'elicit_1', message: 'One?' });
  await on.ask(child.id, { elicitation_id: 'elicit_1', message: 'Or another?' });
  expect(await count(child)).toBe(1);
});

it('row 3: three requests count 3', async () => {
  const { child } = await family();
  for (const elicitation_id of ['e1', 'e2', 'e3']) await on.ask(child.id, { elicitation_id });
  expect(await count(child)).toBe(3);
});

describe('row 4: events of other types do not count', () => {
  it.each([
    ['a message', 'external_assistant_message', { agent: 'worker', text: 'Go ahead?' }],
    ['a status', 'external_session_status', { status: 'running' }],
    ['the end of a turn', 'external_session_status', { status: 'idle', response_id: 'resp_1' }],
    ['an answer to nothing', 'external_elicitation_resolved', { elicitation_id: 'elicit_1' }],
  ])('%s', async (_, type, data) => {
    const { child } = await family();
    expect((await on.event(child.id, type, data)).status).toBe(202);
    expect(await count(child)).toBe(0);
  });

  it('an event without a type is refused', async () => {
    const { child } = await family();
    const answer = await on.api.post(`/v1/sessions/${child.id}/events`, { data: { elicitation_id: 'e1' } });
    expect(answer.status).toBe(422);
    expect(await count(child)).toBe(0);
  });
});

describe('row 5: an id that is none is passed over without an error', () => {
  it.each([[null], [''], [42], [{}], [[]]])('%j', async (elicitation_id) => {
    const { child } = await family();
    const answer = await on.event(child.id, 'mcp_elicitation', { message: 'Go ahead?', elicitation_id });
    expect(answer.status).toBe(202);
    expect(await count(child)).toBe(0);
  });
});

it('row 6: a resolved prompt no longer counts', async () => {
  const { child } = await family();
  const id = await on.ask(child.id);
  await on.resolve(child.id, id, { action: 'accept' });
  expect(await count(child)).toBe(0);
});

it('row 7: resolving an unknown id is no error', async () => {
  const { child } = await family();
  expect((await on.resolve(child.id, 'elicit_nobody', { action: 'accept' })).status).toBe(202);
  expect(await count(child)).toBe(0);
});

it('row 8: with its only prompt answered, a session holds none', async () => {
  const { parent, child } = await family();
  const id = await on.ask(child.id);
  await on.resolve(child.id, id, { action: 'accept' });
  expect(await open(child.id)).toEqual([]);
  expect(await open(parent.id)).toEqual([]);
});

it('row 9: answering one of two leaves the other', async () => {
  const { child } = await family();
  await on.ask(child.id, { elicitation_id: 'e1' });
  await on.ask(child.id, { elicitation_id: 'e2' });
  await on.resolve(child.id, 'e1', { action: 'decline' });
  expect(await count(child)).toBe(1);
  expect(idsOf(await open(child.id))).toEqual(['e2']);
});

it('row 10: every row of a page says its count, 0 included', async () => {
  const { parent, child } = await family();
  await on.child(parent, { title: 'researcher:other' });
  await on.ask(child.id);
  const counts = (await on.children(parent.id)).map((row) => row.pending_elicitations_count);
  expect(counts).toEqual([0, 1]);
});

it('row 11: a page without rows has no counts', async () => {
  expect(await on.children((await on.root()).id)).toEqual([]);
});

it('row 12: the same id on another session is another prompt', async () => {
  const { parent, child } = await family();
  const other = await on.child(parent, { title: 'researcher:other' });
  await on.ask(child.id, { elicitation_id: 'shared' });
  await on.ask(other.id, { elicitation_id: 'shared' });
  await on.resolve(child.id, 'shared', { action: 'accept' });
  expect(await count(child)).toBe(0);
  expect(await count(other)).toBe(1);
});

it('row 13: answered in the terminal, a prompt no longer counts', async () => {
  const { child } = await family();
  const elicitation_id = await on.ask(child.id);
  const answer = await on.event(child.id, 'external_elicitation_resolved', { elicitation_id });
  expect([answer.status, answer.body]).toEqual([202, { queued: false }]);
  expect(await count(child)).toBe(0);
});

it('row 14: answered in the terminal without having been asked is no error', async () => {
  const { child } = await family();
  const answer = await on.event(child.id, 'external_elicitation_resolved', { elicitation_id: 'nobody' });
  expect([answer.status, answer.body]).toEqual([202, { queued: false }]);
});

it('row 15: the snapshot holds whole prompts in the order of their requests', async () => {
  const { child } = await family();
  await on.ask(child.id, {
    elicitation_id: 'z-first',
    message: 'First?',
    phase: 'tool_call',
    tool_name: 'Edit',
  });
  await on.ask(child.id, {
    elicitation_id: 'a-second',
    message: 'Second?',
    mode: 'url',
    url: 'https://x.test/',
  });
  const common = {
    type: 'response.elicitation_request',
    method: 'elicitation/create',
    sequence_number: null,
  };
  expect(await open(child.id)).toEqual([
    {
      ...common,
      elicitation_id: 'z-first',
      params: { mode: 'form', message: 'First?', phase: 'tool_call', tool_name: 'Edit' },
    },
    {
      ...common,
      elicitation_id: 'a-second',
      params: { mode: 'url', message: 'Second?', url: 'https://x.test/' },
    },
  ]);
});

it('row 15: a replaced payload keeps its place', async () => {
  const { child } = await family();
  for (const elicitation_id of ['e1', 'e2']) await on.ask(child.id, { elicitation_id });
  await on.ask(child.id, { elicitation_id: 'e1', message: 'Asked anew' });
  const prompts = await open(child.id);
  expect(idsOf(prompts)).toEqual(['e1', 'e2']);
  expect(prompts[0]?.params['message']).toBe('Asked anew');
});

it('row 16: a session that never asked has an empty list', async () => {
  expect(await open((await on.root()).id)).toEqual([]);
});

it('row 17: which sessions have prompts follows requests and answers', async () => {
  const parent = await on.root();
  const one = await on.child(parent, { title: 'one' });
  const other = await on.child(parent, { title: 'other' });
  const asking = async () =>
    (await on.children(parent.id, '?order=asc'))
      .filter((row) => row.pending_elicitations_count > 0)
      .map(({ title }) => title);
  expect(await asking()).toEqual([]);
  const id = await on.ask(one.id);
  await on.ask(other.id);
  expect(await asking()).toEqual(['one', 'other']);
  await on.resolve(one.id, id, { action: 'accept' });
  expect(await asking()).toEqual(['other']);
});

it('row 18: the call of a tool and its output answer no prompt of that tool', async () => {
  const { child } = await family();
  const elicitation_id = await on.ask(child.id, { message: 'Edit?', tool_name: 'Edit' });
  const items = [
    ['function_call', { agent: 'worker', name: 'Edit', arguments: '{}', call_id: 'call_1' }],
    ['function_call_output', { call_id: 'call_1', output: 'done' }],
  ] as const;
  for (const [item_type, item_data] of items) {
    const posted = await on.event(child.id, 'external_conversation_item', { item_type, item_data });
    expect(posted.status).toBe(202);
  }
  expect(await count(child)).toBe(1);
  expect(idsOf(await open(child.id))).toEqual([elicitation_id]);
});

it('row 19: the prompt carries its message and its schema, properties in their order', async () => {
  const { parent, child } = await family();
  const requestedSchema = {
    type: 'object',
    properties: { q2: { type: 'string' }, q10: { type: 'number' }, q1: { type: 'boolean' } },
    required: ['q1'],
  };
  await on.ask(child.id, { message: 'Which?', requestedSchema });
  for (const session of [child, parent]) {
    const [prompt] = await open(session.id);
    expect(prompt?.params).toMatchObject({ message: 'Which?', requestedSchema });
    const shown = prompt?.params['requestedSchema'] as typeof requestedSchema;
    expect(Object.keys(shown)).toEqual(['type', 'properties', 'required']);
    expect(Object.keys(shown.properties)).toEqual(['q2', 'q10', 'q1']);
  }
});

describe('row 20: a prompt without fields shows none', () => {
  it.each([
    ['url mode without a schema', { mode: 'url', url: 'https://example.test/' }, undefined],
    ['a schema without properties', { requestedSchema: { type: 'object' } }, { type: 'object' }],
    ['empty properties', { requestedSchema: { properties: {} } }, { properties: {} }],
  ])('%s', async (_, data, shown) => {
    const { child } = await family();
    await on.ask(child.id, data);
    const [prompt] = await open(child.id);
    expect(prompt?.params['requestedSchema']).toEqual(shown);
  });
});

it('row 21: a request without parameters says what is missing and asks nothing', async () => {
  const { child } = await family();
  const answer = await on.event(child.id, 'mcp_elicitation', { elicitation_id: 'e1' });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({
    error: { code: 'invalid_input', message: expect.stringContaining('message') },
  });
  expect(await open(child.id)).toEqual([]);
});

it('rows 22 to 24: only requests and answers change what is asked', async () => {
  const { parent, child } = await family();
  await on.ask(child.id, { elicitation_id: 'e1', response_id: 'resp_1' });
  const before = await open(parent.id);
  await on.message(child.id, 'assistant', 'meanwhile');
  await on.status(child.id, 'running', { response_id: 'resp_1' });
  await on.status(child.id, 'waiting', { blocked_on: 'human' });
  await on.status(child.id, 'idle', { response_id: 'resp_other' });
  await on.status(child.id, 'idle');
  await on.rename(child.id, 'researcher:renamed');
  await on.api.patch(`/v1/sessions/${child.id}`, { labels: { colour: 'red' } });
  expect(await open(parent.id)).toEqual(before);
  expect(await count(child)).toBe(1);
});

it('row 25: an open prompt is found by its id', async () => {
  const { child } = await family();
  const id = await on.ask(child.id, { message: 'Find me' });
  expect(await on.prompt(child.id, id)).toMatchObject({ status: 'pending', message: 'Find me' });
});

it('row 26: an unknown id finds nothing', async () => {
  const { child } = await family();
  await on.ask(child.id);
  expect(await on.prompt(child.id, 'elicit_nobody')).toEqual({ status: 'resolved' });
});

it('row 27: an answered prompt is no longer found', async () => {
  const { child } = await family();
  const id = await on.ask(child.id);
  await on.resolve(child.id, id, { action: 'accept' });
  expect(await on.prompt(child.id, id)).toEqual({ status: 'resolved' });
});

it('rows 28 and 29: reading changes nothing, however often', async () => {
  const { parent, child } = await family();
  const id = await on.ask(child.id, { requestedSchema: { properties: { q: { type: 'string' } } } });
  const reads = async () => [await open(child.id), await open(parent.id), await on.prompt(child.id, id)];
  const first = await reads();
  const others = await Promise.all(Array.from({ length: 5 }, reads));
  for (const other of others) expect(other).toEqual(first);
  // The parent's copy names its target; the child's own never does.
  expect(JSON.stringify(await open(child.id))).not.toContain('target_session_id');
});
