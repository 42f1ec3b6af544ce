import { describe, expect, it } from '@jest/globals';
import type { Answer, JsonObject } from '../support/http.js';
import { type ChildRow, type List, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { named, sessionRoutes } from './session-routes.js';

/** `contract/sessions.md` 1.1 and design 13.1. */
const on = roll(stack().a);

describe('ids that are minted', () => {
  it('are a prefix and 32 lowercase hex digits', async () => {
    const session = await on.root();
    expect(session.id).toMatch(/^conv_[0-9a-f]{32}$/);
    expect(session.agent_id).toMatch(/^ag_[0-9a-f]{32}$/);
    expect(await on.message(session.id, 'user', 'hi')).toMatch(/^item_[0-9a-f]{32}$/);
    expect(await on.ask(session.id)).toMatch(/^elicit_[0-9a-f]{32}$/);
    const posted = await on.event(session.id, 'external_assistant_message', { agent: 'worker', text: 'hi' });
    expect(posted.status).toBe(202);
    const [, item] = await on.items(session.id);
    expect(item?.['response_id']).toMatch(/^resp_[0-9a-f]{32}$/);
  });

  it('say nothing else: the root is its own tree', async () => {
    const root = await on.root();
    const child = await on.child(root, { title: 'a:b' });
    const grandchild = await on.child(child, { title: 'c:d' });
    expect(root).toMatchObject({ kind: 'default', parent_session_id: null, root_conversation_id: root.id });
    expect(grandchild).toMatchObject({
      kind: 'sub_agent',
      parent_session_id: child.id,
      root_conversation_id: root.id,
    });
  });
});

const spellings: readonly (readonly [string, (hex: string) => string])[] = [
  ['bare hex', (hex) => hex],
  ['upper case', (hex) => hex.toUpperCase()],
  ['a dashed UUID', (hex) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')],
  ...'ag conv host pol file cmt msg fc fco err rs cmp nt rse sc tc rd agy_conv'
    .split(' ')
    .map((prefix) => [`the prefix ${prefix}_`, (hex: string) => `${prefix}_${hex}`] as const),
];

describe('an id is understood as', () => {
  it.each(spellings)('%s', async (_, spell) => {
    const parent = await on.root();
    const spelled = spell(parent.id.slice('conv_'.length));
    const read = await on.api.get<{ id: string }>(`/v1/sessions/${spelled}`);
    expect([read.status, read.body.id]).toEqual([200, parent.id]);
    const agent_id = spell(String(parent.agent_id).slice('ag_'.length));
    const child = await on.api.post('/v1/sessions', { agent_id, parent_session_id: spelled });
    expect(child.status).toBe(201);
    expect(child.body).toMatchObject({ agent_id: parent.agent_id, parent_session_id: parent.id });
    const listed = await on.api.get<List<ChildRow>>(`/v1/sessions/${spelled}/child_sessions`);
    expect(listed.body).toMatchObject({ data: [{ id: child.body['id'] }] });
  });
});

const malformed = [
  'conv_no_such_session',
  'nope',
  '0'.repeat(31),
  '0'.repeat(33),
  `conv_conv_${'0'.repeat(32)}`,
  `xyz_${'0'.repeat(32)}`,
  `conv_${'g'.repeat(32)}`,
  `CONV_${'0'.repeat(32)}`,
  ` ${'0'.repeat(32)}`,
  `${'0'.repeat(32)}\n`,
  `{${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}}`,
  'a-b-c',
  '$all',
  '../x',
  '\0',
  '__proto__',
  'constructor',
  'é🟡',
  'a'.repeat(512),
  'a'.repeat(5_000),
];

const notFound = { error: { code: 'not_found', message: 'Not found.' } };

describe('an id that is none is 404, never another refusal', () => {
  it.each(malformed)('%j', async (id) => {
    const answers = await Promise.all(
      sessionRoutes(encodeURIComponent(id)).map(async (call) => {
        const { status, body } = await send(call);
        return { route: named(call), status, body };
      }),
    );
    const expected = answers.map(({ route }) => ({ route, status: 404, body: notFound }));
    expect(answers).toEqual(expected);
  });

  it('even when it is not percent-encoded text at all', async () => {
    const answer = await on.api.get('/v1/sessions/%ff');
    expect([answer.status, answer.body]).toEqual([404, notFound]);
  });

  it.each(malformed.filter((id) => id !== '\0'))('as an agent: %j', async (agent_id) => {
    expect((await on.api.post('/v1/sessions', { agent_id })).status).toBe(404);
  });
});

function send(call: ReturnType<typeof sessionRoutes>[number]): Promise<Answer<JsonObject>> {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  return on.api.raw(call.method, call.path, body, { headers });
}

describe('the id of a prompt is the text of its client', () => {
  it.each(['x', 'e/1', '%', '?&#', 'é🟡', '__proto__', 'constructor', 'A', 'a', '🟡'.repeat(255)])(
    '%j',
    async (elicitation_id) => {
      const session = await on.root();
      expect(await on.ask(session.id, { elicitation_id })).toBe(elicitation_id);
      const [prompt] = (await on.snapshot(session.id)).pending_elicitations;
      expect(prompt?.elicitation_id).toBe(elicitation_id);
      expect((await on.resolve(session.id, elicitation_id, { action: 'accept' })).status).toBe(202);
      expect((await on.snapshot(session.id)).pending_elicitations).toEqual([]);
    },
  );

  it.each(['🟡'.repeat(256), 'a\0b', '\ud83d'])('%j is refused', async (elicitation_id) => {
    const session = await on.root();
    const answer = await on.event(session.id, 'mcp_elicitation', { message: 'Go ahead?', elicitation_id });
    expect(answer.status).toBe(422);
    expect((await on.snapshot(session.id)).pending_elicitations).toEqual([]);
  });
});
