import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../support/http.js';
import { type Roll, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** `api.md` 1: the id that a forwarder gives to an item keeps it from being stored twice, on whatever node it arrives. */
const on = roll(stack().a);

const message = (id: unknown, text = 'hello'): JsonObject => ({
  item_type: 'message',
  item_data: { id, role: 'user', content: [{ type: 'input_text', text }] },
});

const forward = (through: Roll, sessionId: string, data: JsonObject) =>
  through.event(sessionId, 'external_conversation_item', data);

it('the same item again is the same item', async () => {
  const { id } = await on.root();
  const first = await forward(on, id, message('msg-1'));
  const again = await forward(on, id, message('msg-1'));
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.headers.get('rollcall-position')).toBe(first.headers.get('rollcall-position'));
  expect(await on.items(id)).toHaveLength(1);
});

it('the same id with another text is 409, and the first text stays', async () => {
  const { id } = await on.root();
  await forward(on, id, message('msg-1', 'one'));
  const other = await forward(on, id, message('msg-1', 'other'));
  expect([other.status, other.body]).toMatchObject([409, { error: { code: 'idempotency_mismatch' } }]);
  expect(await on.items(id)).toMatchObject([{ content: [{ text: 'one' }] }]);
});

it('the same id on another session is another item', async () => {
  const [one, other] = await Promise.all([on.root(), on.root()]);
  const first = await forward(on, one.id, message('msg-1'));
  const second = await forward(on, other.id, message('msg-1'));
  expect(second.status).toBe(202);
  expect(second.body['item_id']).not.toBe(first.body['item_id']);
});

it('without an id every post is an item of its own', async () => {
  const { id } = await on.root();
  for (const none of [undefined, null]) {
    await forward(on, id, message(none));
    await forward(on, id, message(none));
  }
  expect(await on.items(id)).toHaveLength(4);
});

it('an Idempotency-Key beside it does not let the same item through twice', async () => {
  const { id } = await on.root();
  const headers = () => ({ headers: { 'idempotency-key': unique('key') } });
  const first = await on.event(id, 'external_conversation_item', message('msg-1'), headers());
  const again = await on.event(id, 'external_conversation_item', message('msg-1'), headers());
  expect(again.body).toEqual(first.body);
  expect(await on.items(id)).toHaveLength(1);
});

it.each([7, '', {}, [], 'a\0b', '\ud83d', 'x'.repeat(256)])('an item id %j is 422', async (itemId) => {
  const { id } = await on.root();
  const answer = await forward(on, id, message(itemId));
  expect(answer.status).toBe(422);
  expect(await on.items(id)).toEqual([]);
});

describe('over two nodes', () => {
  const hers = roll(stack().b, { user: `${unique('alice')}@example.test` });

  it('the same item is stored once, however it comes', async () => {
    const { id } = await hers.root();
    const posts = Array.from({ length: 12 }, (_, index) =>
      forward(index % 2 === 0 ? on : hers, id, message('msg-1')),
    );
    const answers = await Promise.all(posts);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(new Set(answers.map(({ body }) => body['item_id'])).size).toBe(1);
    expect(await hers.items(id)).toHaveLength(1);
  });

  it('of two texts under one id one is stored and the other refused', async () => {
    const { id } = await hers.root();
    const [one, other] = await Promise.all([
      forward(on, id, message('msg-1', 'from a')),
      forward(hers, id, message('msg-1', 'from b')),
    ]);
    expect([one.status, other.status].sort()).toEqual([202, 409]);
    const stored = one.status === 202 ? 'from a' : 'from b';
    expect(await hers.items(id)).toMatchObject([{ content: [{ text: stored }] }]);
  });

  it('what is written beside an item that the other node has just taken is not lost', async () => {
    const { id } = await hers.root();
    for (let round = 0; round < 15; round += 1) {
      const shared = message(`msg-${round}`);
      const answers = await Promise.all([
        // Waiting posts of one node are written together; the first one keeps the others waiting.
        ...Array.from({ length: 5 }, (_, index) => forward(on, id, message(null, `own ${round}.${index}`))),
        forward(on, id, shared),
        forward(hers, id, shared),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
      await hers.snapshot(id);
      const stored = new Set((await on.items(id, '?limit=1000&order=desc')).map((item) => item.id));
      const lost = answers.filter(({ body }) => !stored.has(String(body['item_id'])));
      expect(lost.map(({ text }) => text)).toEqual([]);
      expect(stored.size).toBe((round + 1) * 6);
    }
  });

  it('what one has taken, the other knows at once', async () => {
    const { id } = await hers.root();
    for (let index = 0; index < 10; index += 1) {
      const [writer, repeater] = index % 2 === 0 ? [on, hers] : [hers, on];
      const first = await forward(writer, id, message(`msg-${index}`));
      const again = await forward(repeater, id, message(`msg-${index}`));
      expect(again.body).toEqual(first.body);
    }
    expect(await hers.items(id)).toHaveLength(10);
  });
});

it('a prompt id is the natural key of its prompt on every node', async () => {
  const hers = roll(stack().b, { user: `${unique('alice')}@example.test` });
  const { id } = await hers.root();
  await Promise.all(
    [on, hers, on, hers].map((through) => through.ask(id, { elicitation_id: 'e1', message: 'Same?' })),
  );
  expect((await hers.snapshot(id)).pending_elicitations).toHaveLength(1);
  const verdicts = await Promise.all(
    ['accept', 'decline', 'cancel', 'accept'].map((action, index) =>
      (index % 2 === 0 ? on : hers).resolve(id, 'e1', { action }),
    ),
  );
  expect(verdicts.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  const settling = verdicts.filter(({ headers }) => !headers.has('rollcall-resolution'));
  expect(settling).toHaveLength(1);
});
