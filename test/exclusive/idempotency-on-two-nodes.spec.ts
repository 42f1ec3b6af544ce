import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import type { Answer } from '../support/http.js';
import { type Roll, type SessionBody, roll } from '../support/roll.js';
import { unique } from '../support/unique.js';

/** `api.md` 1: the same key by the same principal is the same command, on whatever node it arrives. */
jest.setTimeout(60_000);

let stack: ExclusiveStack;
let nodes: readonly [Roll, Roll];

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  const servers = await Promise.all([stack.startServer(), stack.startServer()]);
  nodes = [roll(servers[0].url), roll(servers[1].url)];
});

afterAll(() => stack.dispose());

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const node = (index: number): Roll => nodes[index % 2 === 0 ? 0 : 1];

function expectOneEffect(answers: readonly Answer<SessionBody>[], status: number): void {
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
  expect(new Set(answers.map(({ headers }) => headers.get('rollcall-position'))).size).toBe(1);
}

it('a root is made once', async () => {
  const agent = await node(0).agent();
  const key = unique('key');
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      node(index).api.post<SessionBody>('/v1/sessions', { agent_id: agent.id }, keyed(key)),
    ),
  );
  expectOneEffect(answers, 201);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
});

it('a child is made once, and its title is no obstacle to its own repeat', async () => {
  const parent = await node(0).root();
  const key = unique('key');
  const body = { parent_session_id: parent.id, title: 'coder:one' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      node(index).api.post<SessionBody>('/v1/sessions', body, keyed(key)),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map(({ body: child }) => child.id)).size).toBe(1);
  expect(await node(1).children(parent.id)).toHaveLength(1);
});

it.each([
  ['an item', { type: 'external_assistant_message', data: { agent: 'w', text: 'once' } }],
  ['a prompt', { type: 'mcp_elicitation', data: { message: 'Once?' } }],
])('%s is made once', async (_, body) => {
  const { id } = await node(0).root();
  const key = unique('key');
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_item, index) =>
      node(index).api.post<SessionBody>(`/v1/sessions/${id}/events`, body, keyed(key)),
    ),
  );
  expectOneEffect(answers, 202);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
});

it('with another body it is 409 on the other node, at once and later', async () => {
  const agent = await node(0).agent();
  const key = unique('key');
  const send = (index: number, title: string) =>
    node(index).api.post('/v1/sessions', { agent_id: agent.id, title }, keyed(key));
  const race = await Promise.all([send(0, 'one'), send(1, 'other')]);
  expect(race.map(({ status }) => status).sort()).toEqual([201, 409]);
  const refused = race.find(({ status }) => status === 409);
  expect(refused?.body).toMatchObject({ error: { code: 'idempotency_mismatch' } });
  expect((await send(0, 'third')).status).toBe(409);
  expect((await send(1, 'third')).status).toBe(409);
});

it('and the log agrees with what is shown', async () => {
  expect((await expectAgreement(stack)).length).toBeGreaterThan(0);
});
