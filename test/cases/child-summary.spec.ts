import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type List, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** Area "child summary". */
const on = roll(stack().a);

const spawn = (parent_session_id: unknown) =>
  on.api.post<SessionBody>('/v1/sessions', { parent_session_id, title: 'a:b' });

describe('F008: creating a child under', () => {
  it.each(['running', 'waiting', 'idle', 'failed'] as const)('a parent that is %s is 201', async (status) => {
    const parent = await on.root();
    await on.status(parent.id, status);
    expect((await spawn(parent.id)).status).toBe(201);
  });

  it('a child is 201', async () => {
    const child = await on.child(await on.root(), { title: 'a:b' });
    expect((await spawn(child.id)).body).toMatchObject({ parent_session_id: child.id });
  });

  it('a closed parent is 409', async () => {
    const parent = await on.root();
    await on.close(parent.id);
    const answer = await spawn(parent.id);
    expect([answer.status, answer.body]).toMatchObject([409, { error: { code: 'conflict' } }]);
  });

  it.each([
    ['missing', randomUUID()],
    ['of no known form', 'nope'],
    ['300 characters long', 'a'.repeat(300)],
    ['a path', '../x'],
    ['empty', ''],
    ['__proto__', '__proto__'],
    ['with NUL in it', `${'0'.repeat(31)}\0`],
  ])('a parent that is %s is 404, and the message names it', async (_, parent) => {
    const answer = await spawn(parent);
    expect([answer.status, answer.body]).toMatchObject([
      404,
      { error: { code: 'not_found', message: expect.stringMatching(/^Parent session/) } },
    ]);
  });

  it.each([[7], [true], [{}], [[]]])('a parent that is %j is 422 and names the member', async (parent) => {
    const answer = await spawn(parent);
    expect(answer.status).toBe(422);
    const { detail } = answer.body as unknown as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc)).toContainEqual(['body', 'parent_session_id']);
  });

  it('an id in capitals is 201: it is the same id', async () => {
    const parent = await on.root();
    expect((await spawn(parent.id.slice('conv_'.length).toUpperCase())).status).toBe(201);
  });
});

it('F011: children are listed under their parents, not among the sessions', async () => {
  const root = await on.root();
  const children = await Promise.all(
    Array.from({ length: 20 }, (_, index) => on.child(root, { title: `worker:${index}` })),
  );
  await Promise.all(
    children.flatMap((child) => ['a', 'b'].map((name) => on.child(child, { title: `sub:${name}` }))),
  );
  const count = async (query: string) => {
    const path = `/v1/sessions?agent_id=${root.agent_id ?? ''}&limit=1000${query}`;
    return (await on.api.get<List<SessionBody>>(path)).body.data.length;
  };
  expect(await count('')).toBe(1);
  expect(await count('&kind=default')).toBe(1);
  expect(await count('&kind=sub_agent')).toBe(60);
  expect(await count('&kind=any')).toBe(61);
  expect(await on.children(root.id, '?limit=1000')).toHaveLength(20);
  for (const child of children.slice(0, 3)) expect(await on.children(child.id)).toHaveLength(2);
});
