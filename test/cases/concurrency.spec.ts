import { afterAll, describe, expect, it } from '@jest/globals';
import { rawEventStore } from '../support/event-store.js';
import { type ItemRow, type List, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** Areas "concurrency" and "checkpoint", on a server that runs undisturbed. */
const on = roll(stack().a);
const hers = roll(stack().b, { user: `${unique('alice')}@example.test` });
const log = rawEventStore(stack().eventStoreUrl);
afterAll(() => log.dispose());

describe('F087: twenty posts to one session at the same time', () => {
  it.each([
    ['one node', [on, on]],
    ['two nodes', [on, hers]],
  ] as const)('on %s all succeed, and each success is in the log once', async (_, nodes) => {
    const { id } = await hers.root();
    const post = (index: number, type: string, data: Record<string, unknown>) =>
      (index % 2 === 0 ? nodes[0] : nodes[1]).event(id, type, data);
    const messages = Array.from({ length: 10 }, (_item, index) =>
      post(index, 'external_assistant_message', { agent: 'w', text: `message ${index}` }),
    );
    const statuses = Array.from({ length: 5 }, (_item, index) =>
      post(index, 'external_session_status', { status: 'running', response_id: `resp_${index}` }),
    );
    const prompts = Array.from({ length: 5 }, (_item, index) =>
      post(index, 'mcp_elicitation', { message: `Prompt ${index}` }),
    );
    const answers = await Promise.all([...messages, ...statuses, ...prompts]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));

    const events = await log.read(`rollcall.session-${id}`);
    const of = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
    const itemIds = answers.slice(0, 10).map(({ body }) => body['item_id']);
    expect(of('ItemAppended').map((data) => data['item_id'])).toEqual(expect.arrayContaining(itemIds));
    expect(of('ItemAppended')).toHaveLength(10);
    expect(of('SessionStatusChanged')).toHaveLength(5);
    const promptIds = answers.slice(15).map(({ body }) => body['elicitation_id']);
    expect(of('ElicitationRequested').map((data) => data['elicitation_id'])).toEqual(
      expect.arrayContaining(promptIds),
    );
    expect(of('ElicitationRequested')).toHaveLength(5);
    const positions = answers.map(({ headers }) => headers.get('rollcall-position'));
    expect(events.map(({ position }) => position)).toEqual(expect.arrayContaining([...new Set(positions)]));
    await hers.snapshot(id);
    expect(await on.items(id)).toHaveLength(10);
  });
});

it('F130: a reader that follows a list while it grows misses no row', async () => {
  const { id } = await hers.root();
  const total = 60;
  const seen: string[] = [];
  let writing = true;
  const writers = Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let index = 0; index < total / 6; index += 1)
        await (writer % 2 === 0 ? on : hers).message(id, 'user', `writer ${writer}, message ${index}`);
    }),
  ).finally(() => {
    writing = false;
  });
  const follow = async (): Promise<void> => {
    const after = seen.length === 0 ? '' : `&after=${seen.at(-1) ?? ''}`;
    const { body } = await on.api.get<List<ItemRow>>(`/v1/sessions/${id}/items?limit=7${after}`);
    seen.push(...body.data.map((item) => item.id));
  };
  while (writing) await follow();
  await writers;
  const all = (await hers.items(id, '?limit=1000')).map((item) => item.id);
  while (seen.length < all.length) {
    const before = seen.length;
    await follow();
    if (seen.length === before) break;
  }
  expect(all).toHaveLength(total);
  expect(seen).toEqual(all);
});
