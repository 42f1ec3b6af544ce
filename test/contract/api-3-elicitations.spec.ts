import { describe, expect, it } from '@jest/globals';
import type { Answer, JsonObject } from '../support/http.js';
import { type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** `api.md` 3 and design 13.1, 13.7 to 13.10. */
const on = roll(stack().a);

async function line(): Promise<{ root: SessionBody; child: SessionBody; grandchild: SessionBody }> {
  const root = await on.root();
  const child = await on.child(root, { title: 'a:b' });
  return { root, child, grandchild: await on.child(child, { title: 'c:d' }) };
}

const askAgain = (id: string, elicitation_id: string, more: JsonObject = {}) =>
  on.event(id, 'mcp_elicitation', { message: 'Go ahead?', elicitation_id, ...more });

const standing = (answer: Answer<unknown>) => answer.headers.get('rollcall-resolution');
const openIds = async (id: string) =>
  (await on.snapshot(id)).pending_elicitations.map(({ elicitation_id }) => elicitation_id);

const isPending = async (id: string, elicitationId: string) =>
  (await on.prompt(id, elicitationId))['status'] === 'pending';

type Settling = readonly [string, (id: string) => Promise<unknown>];

const verdicts: readonly Settling[] = [
  ['answered', (id) => on.resolve(id, 'e1', { action: 'accept' })],
  ['declined', (id) => on.resolve(id, 'e1', { action: 'decline' })],
  ['cancelled', (id) => on.resolve(id, 'e1', { action: 'cancel' })],
];

const withdrawals: readonly (readonly [string, ...Settling])[] = [
  ['by failed', 'withdrawn', (id) => on.status(id, 'failed')],
  ['by close', 'withdrawn', (id) => on.close(id)],
  ['by idle of its response', 'withdrawn', (id) => on.status(id, 'idle', { response_id: 'resp_1' })],
  [
    'by an answer elsewhere',
    'withdrawn',
    (id) => on.event(id, 'external_elicitation_resolved', { elicitation_id: 'e1' }),
  ],
];

describe('the same id asked again', () => {
  it('while open is the same prompt with the new payload, in its old place', async () => {
    const { id } = await on.root();
    await on.ask(id, { elicitation_id: 'e1', message: 'One?', phase: 'old' });
    await on.ask(id, { elicitation_id: 'e2' });
    const again = await askAgain(id, 'e1', { message: 'Or one again?' });
    expect([again.status, again.body]).toEqual([202, { queued: false, elicitation_id: 'e1' }]);
    const [first, second] = (await on.snapshot(id)).pending_elicitations;
    expect(first).toMatchObject({ elicitation_id: 'e1', params: { mode: 'form', message: 'Or one again?' } });
    expect(first?.params).not.toHaveProperty('phase');
    expect(second?.elicitation_id).toBe('e2');
  });

  it('while open with the same payload is no event', async () => {
    const { id } = await on.root();
    await on.ask(id, { elicitation_id: 'e1', requestedSchema: { properties: { a: {}, b: {} } } });
    const before = await on.snapshot(id);
    await on.ask(id, { elicitation_id: 'e1', requestedSchema: { properties: { a: {}, b: {} } } });
    expect(await on.snapshot(id)).toEqual(before);
  });

  it.each(verdicts)('once %s is ignored', async (_, settle) => {
    const { id } = await on.root();
    await on.ask(id, { elicitation_id: 'e1' });
    await settle(id);
    const before = await on.snapshot(id);
    const again = await askAgain(id, 'e1', { message: 'Really?' });
    expect([again.status, again.body]).toEqual([202, { queued: false, elicitation_id: 'e1' }]);
    expect(await on.snapshot(id)).toEqual(before);
    expect(await isPending(id, 'e1')).toBe(false);
  });

  it.each(withdrawals)('once withdrawn %s is 409', async (_, __, settle) => {
    const { id } = await on.root();
    await on.ask(id, { elicitation_id: 'e1', response_id: 'resp_1' });
    await settle(id);
    const again = await askAgain(id, 'e1');
    expect([again.status, again.body]).toMatchObject([409, { error: { code: 'conflict' } }]);
    expect(await openIds(id)).toEqual([]);
  });
});

describe('a verdict for what is settled is accepted, changes nothing and is told what stands', () => {
  const settlings = [...verdicts.map(([name, settle]) => [name, name, settle] as const), ...withdrawals];

  it.each(settlings)('%s', async (_, expected, settle) => {
    const { root, grandchild } = await line();
    await on.ask(grandchild.id, { elicitation_id: 'e1', response_id: 'resp_1' });
    await settle(grandchild.id);
    const before = await on.snapshot(grandchild.id);
    for (const id of [grandchild.id, root.id]) {
      const late = await on.resolve(id, 'e1', { action: 'accept' });
      expect([late.status, late.body, standing(late)]).toEqual([202, { queued: false }, expected]);
      const event = await on.event(id, 'approval', { elicitation_id: 'e1', action: 'decline' });
      expect([event.status, event.body, standing(event)]).toEqual([202, { queued: false }, expected]);
    }
    expect(await on.snapshot(grandchild.id)).toEqual(before);
  });
});

describe('a verdict at an ancestor', () => {
  it.each(['root', 'child', 'grandchild'] as const)(
    'at the %s settles the prompt of the grandchild',
    async (where) => {
      const family = await line();
      const id = await on.ask(family.grandchild.id);
      expect(await isPending(family[where].id, id)).toBe(true);
      const answer = await on.resolve(family[where].id, id, { action: 'accept' });
      expect([answer.status, answer.body, standing(answer)]).toEqual([202, { queued: false }, null]);
      for (const session of Object.values(family)) {
        expect(await openIds(session.id)).toEqual([]);
        expect(await isPending(session.id, id)).toBe(false);
      }
      expect(standing(await on.resolve(family.grandchild.id, id, { action: 'decline' }))).toBe('answered');
    },
  );

  it('of an id that is open on two below is 409 and names both; at either it is settled', async () => {
    const root = await on.root();
    const [one, other] = [await on.child(root, { title: 'one' }), await on.child(root, { title: 'other' })];
    for (const child of [one, other]) await on.ask(child.id, { elicitation_id: 'same' });
    const ambiguous = await on.resolve(root.id, 'same', { action: 'accept' });
    expect([ambiguous.status, ambiguous.body]).toMatchObject([409, { error: { code: 'conflict' } }]);
    for (const child of [one, other]) expect(ambiguous.text).toContain(child.id);
    expect(await openIds(root.id)).toEqual(['same', 'same']);
    await on.resolve(one.id, 'same', { action: 'accept' });
    expect(await openIds(other.id)).toEqual(['same']);
    // One of them is left, so the root's verdict is clear again.
    expect(standing(await on.resolve(root.id, 'same', { action: 'decline' }))).toBeNull();
    expect(await openIds(root.id)).toEqual([]);
    expect(standing(await on.resolve(other.id, 'same', { action: 'accept' }))).toBe('declined');
  });

  it('reaches an open prompt below although its own of that id is settled; the settled one stands last', async () => {
    const { root, child } = await line();
    await on.ask(root.id, { elicitation_id: 'same' });
    await on.resolve(root.id, 'same', { action: 'decline' });
    await on.ask(child.id, { elicitation_id: 'same' });
    expect(standing(await on.resolve(root.id, 'same', { action: 'accept' }))).toBeNull();
    expect(await openIds(root.id)).toEqual([]);
    expect(standing(await on.resolve(child.id, 'same', { action: 'cancel' }))).toBe('answered');
    expect(standing(await on.resolve(root.id, 'same', { action: 'cancel' }))).toBe('declined');
  });

  it("prefers the session's own prompt of that id", async () => {
    const { root, child } = await line();
    for (const session of [root, child]) await on.ask(session.id, { elicitation_id: 'same' });
    await on.resolve(root.id, 'same', { action: 'accept' });
    expect(await openIds(child.id)).toEqual(['same']);
    expect(await openIds(root.id)).toEqual(['same']);
    expect((await on.snapshot(root.id)).pending_elicitations[0]?.params['target_session_id']).toBe(child.id);
  });
});

describe('reading a prompt', () => {
  it.each(['child', 'root'] as const)(
    'right after a request that nobody waited for, at the %s: it is pending',
    async (at) => {
      const family = await line();
      const asked = await on.event(
        family.child.id,
        'mcp_elicitation',
        { message: 'Now?', elicitation_id: 'e1' },
        { headers: { prefer: 'respond-async' } },
      );
      const prompt = await on.api.get(`/v1/sessions/${family[at].id}/elicitations/e1`);
      expect(prompt.body).toMatchObject({ status: 'pending', message: 'Now?' });
      const [requested, shown] = [asked, prompt].map(({ headers }) =>
        BigInt(headers.get('rollcall-position') ?? ''),
      );
      expect(shown).toBeGreaterThanOrEqual(requested ?? 0n);
      expect(prompt.headers.get('cache-control')).toBe('no-store');
    },
  );

  it('its own that is settled hides no open one below', async () => {
    const { root, child } = await line();
    await on.ask(root.id, { elicitation_id: 'same', message: 'Mine?' });
    await on.resolve(root.id, 'same', { action: 'decline' });
    await on.ask(child.id, { elicitation_id: 'same', message: 'Theirs?' });
    expect(await on.prompt(root.id, 'same')).toMatchObject({ status: 'pending', message: 'Theirs?' });
  });
});

it.each(['child', 'sibling', 'stranger'] as const)(
  'a verdict at a %s of the asking session settles nothing',
  async (at) => {
    const { root, child } = await line();
    const asking = await on.child(root, { title: 'asking' });
    const below = await on.child(asking, { title: 'below' });
    const where = { child: below, sibling: child, stranger: await on.root() }[at];
    const id = await on.ask(asking.id);
    const answer = await on.resolve(where.id, id, { action: 'accept' });
    expect([answer.status, answer.body, standing(answer)]).toEqual([202, { queued: false }, null]);
    expect(await isPending(asking.id, id)).toBe(true);
    expect(await isPending(where.id, id)).toBe(false);
  },
);

it('of many verdicts at the same time, at the session and above, one settles', async () => {
  const { root, child, grandchild } = await line();
  const id = await on.ask(grandchild.id);
  const places = [root, child, grandchild];
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => {
      const action = index % 2 === 0 ? 'accept' : 'decline';
      return on.resolve(places[index % 3]?.id ?? '', id, { action });
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  const told = answers.map(standing).filter((state) => state !== null);
  expect(told).toHaveLength(11);
  expect(new Set(told).size).toBe(1);
});

describe('counts and copies', () => {
  it('each prompt counts once on the session and on each above it', async () => {
    const { root, child, grandchild } = await line();
    await on.ask(root.id);
    await on.ask(child.id);
    await on.ask(grandchild.id);
    await on.ask(grandchild.id);
    const counts = async (session: SessionBody) => {
      const { pending_elicitations_count, pending_self, pending_descendants } = await on.snapshot(session.id);
      return [pending_elicitations_count, pending_self, pending_descendants];
    };
    expect(await counts(root)).toEqual([4, 1, 3]);
    expect(await counts(child)).toEqual([3, 1, 2]);
    expect(await counts(grandchild)).toEqual([2, 2, 0]);
    const row = { pending_elicitations_count: 3, pending_self: 1, pending_descendants: 2 };
    expect(await on.row(child)).toMatchObject({ ...row, oldest_pending_at: expect.any(Number) });
  });

  it('a client cannot make a prompt that points elsewhere', async () => {
    const { root, child } = await line();
    const victim = await on.root();
    await on.ask(child.id, { target_session_id: victim.id });
    expect((await on.snapshot(child.id)).pending_elicitations[0]?.params).not.toHaveProperty(
      'target_session_id',
    );
    expect((await on.snapshot(root.id)).pending_elicitations[0]?.params['target_session_id']).toBe(child.id);
  });
});

describe('what ends a turn withdraws its prompts (13.9)', () => {
  it('failed: all of them; above, the others stay', async () => {
    const { root, child, grandchild } = await line();
    const stays = await on.ask(grandchild.id);
    await on.ask(child.id, { response_id: 'resp_1' });
    await on.ask(child.id);
    await on.status(child.id, 'failed');
    expect(await openIds(child.id)).toEqual([stays]);
    expect(await openIds(root.id)).toEqual([stays]);
  });

  it('idle: those of the same response alone', async () => {
    const { id } = await on.root();
    await on.ask(id, { elicitation_id: 'of-1', response_id: 'resp_1' });
    await on.ask(id, { elicitation_id: 'of-2', response_id: 'resp_2' });
    await on.ask(id, { elicitation_id: 'of-none' });
    await on.status(id, 'running', { response_id: 'resp_1' });
    await on.status(id, 'idle');
    expect(await openIds(id)).toEqual(['of-1', 'of-2', 'of-none']);
    await on.status(id, 'idle', { response_id: 'resp_1' });
    expect(await openIds(id)).toEqual(['of-2', 'of-none']);
  });

  it('a waiting that reads idle: none', async () => {
    const { id } = await on.root();
    await on.ask(id, { elicitation_id: 'e1', response_id: 'resp_1' });
    await on.status(id, 'waiting', { background_task_count: 1, response_id: 'resp_1' });
    expect(await openIds(id)).toEqual(['e1']);
  });

  it('an idle that failed outlives: still those of its response', async () => {
    const { id } = await on.root();
    await on.status(id, 'failed');
    await on.ask(id, { elicitation_id: 'after' });
    await on.status(id, 'idle', { response_id: 'resp_1' });
    expect(await openIds(id)).toEqual(['after']);
    expect((await on.snapshot(id)).status).toBe('failed');
  });
});

describe('the event approval', () => {
  it('is a verdict like any other, at the session and above', async () => {
    const { root, child } = await line();
    const ids = [await on.ask(child.id), await on.ask(child.id)] as const;
    const own = await on.event(child.id, 'approval', { elicitation_id: ids[0], action: 'accept' });
    const above = await on.event(root.id, 'approval', { elicitation_id: ids[1], action: 'decline' });
    for (const answer of [own, above]) {
      expect([answer.status, answer.body]).toEqual([202, { queued: false }]);
    }
    expect(await openIds(child.id)).toEqual([]);
    const states = await Promise.all(ids.map((id) => on.resolve(child.id, id, { action: 'cancel' })));
    expect(states.map(standing)).toEqual(['answered', 'declined']);
  });

  it.each([
    [{ action: 'accept' }, 'elicitation_id'],
    [{ action: 'accept', elicitation_id: null }, 'elicitation_id'],
    [{ action: 'accept', elicitation_id: '' }, 'elicitation_id'],
    [{ action: 'accept', elicitation_id: 7 }, 'elicitation_id'],
    [{ action: 'accept', elicitation_id: 'e\0' }, 'elicitation_id'],
    [{ action: 'accept', elicitation_id: '\ud83d' }, 'elicitation_id'],
    [{ action: 'accept', elicitation_id: '🟡'.repeat(256) }, 'elicitation_id'],
    [{ elicitation_id: 'e1' }, 'action'],
    [{ elicitation_id: 'e1', action: 'ACCEPT' }, 'action'],
    [{ elicitation_id: 'e1', action: 'accept', content: 'yes' }, 'content'],
  ])('with %j is 422', async (data, member) => {
    const { id } = await on.root();
    await on.ask(id, { elicitation_id: 'e1' });
    const answer = await on.event(id, 'approval', data);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'data', member] }] });
    expect(await openIds(id)).toEqual(['e1']);
  });
});

describe('as many open prompts as a session may hold', () => {
  it('leave no room for another, only for the same again, and end with the session', async () => {
    const { id } = await on.root();
    const ids = Array.from({ length: 160 }, (_, n) => `e${n}`);
    await Promise.all(ids.map((elicitation_id) => on.ask(id, { elicitation_id })));
    const more = await askAgain(id, 'more');
    expect([more.status, more.body]).toMatchObject([429, { error: { code: 'capacity_reached' } }]);
    expect((await askAgain(id, 'e7', { message: 'Really?' })).status).toBe(202);
    expect((await on.resolve(id, 'e7', { action: 'decline' })).status).toBeLessThan(300);
    expect((await askAgain(id, 'more')).status).toBe(202);
    await on.close(id);
    expect(await openIds(id)).toEqual([]);
  });
});

describe('a hostile requestedSchema', () => {
  const asking = async (requestedSchema: JsonObject): Promise<SessionBody> => {
    const session = await on.root();
    await on.ask(session.id, { elicitation_id: 'e1', requestedSchema });
    return session;
  };

  it('that backtracks is answered, and the content that does not fit is named', async () => {
    const { id } = await asking({
      type: 'object',
      properties: { a: { type: 'string', pattern: '^(a+)+$' } },
    });
    const content = { a: `${'a'.repeat(50)}!` };
    const answer = await on.resolve(id, 'e1', { action: 'accept', content });
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'content', 'a'] }] },
    ]);
  });

  it('that refers to itself without end asks for nothing', async () => {
    const { id } = await asking({ allOf: [{ $ref: '#' }] });
    expect((await on.resolve(id, 'e1', { action: 'accept', content: {} })).status).toBeLessThan(300);
  });

  it('that is too large or too deep is refused', async () => {
    const { id } = await on.root();
    const deep = Array.from({ length: 100 }).reduce<JsonObject>((inner) => ({ not: inner }), {});
    for (const requestedSchema of [{ title: 'x'.repeat(70_000) }, deep]) {
      const answer = await askAgain(id, 'e1', { requestedSchema });
      expect([answer.status, answer.body]).toMatchObject([
        400,
        { error: { code: 'invalid_input', message: expect.stringContaining('requestedSchema') as unknown } },
      ]);
    }
  });
});
it.each(['e\0', '\ud83d', '🟡'.repeat(256)])(
  '%j answered elsewhere is 422: no prompt has such an id',
  async (elicitation_id) => {
    const { id } = await on.root();
    const answer = await on.event(id, 'external_elicitation_resolved', { elicitation_id });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'data', 'elicitation_id'] }] });
  },
);

it('an answer that does not wait still counts what is open below', async () => {
  const root = await on.root();
  const child = await on.child(root, { title: 'a:b' });
  await on.ask(child.id, { elicitation_id: 'below' });
  const answer = await on.api.patch<SessionBody>(
    `/v1/sessions/${root.id}`,
    { labels: { stage: 'two' } },
    { headers: { prefer: 'respond-async' } },
  );
  expect(answer.body).toMatchObject({
    pending_elicitations_count: 1,
    pending_descendants: 1,
    labels: { stage: 'two' },
  });
});
