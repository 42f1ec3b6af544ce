import { expect, it } from '@jest/globals';
import { type ChildRow, type List, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { until } from '../support/until.js';

const on = roll(stack().a);

/** Follows `after` to the end of a list. */
async function walk(path: string, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (let after = ''; ; after = `&after=${seen.at(-1) ?? ''}`) {
    const { body } = await on.api.get<{ data: { id: string }[]; has_more: boolean }>(
      `${path}?order=asc&limit=${limit}${after}`,
    );
    seen.push(...body.data.map(({ id }) => id));
    if (!body.has_more) return seen;
  }
}

it('F094: what is made in the same moment is listed once, in one order, on pages of any size', async () => {
  const root = await on.root();
  const [ids] = await Promise.all([
    Promise.all(
      Array.from({ length: 50 }, (_, index) => on.message(root.id, 'assistant', `message ${index}`)),
    ),
    on.child(root, { title: 'twin:1' }),
    on.child(root, { title: 'twin:2' }),
  ]);
  const whole = (await on.items(root.id, '?order=asc&limit=100')).map(({ id }) => id);
  expect(new Set(whole)).toEqual(new Set(ids));
  expect(whole).toHaveLength(50);
  for (const limit of [7, 1]) expect(await walk(`/v1/sessions/${root.id}/items`, limit)).toEqual(whole);

  const children = (await on.children(root.id, '?order=asc')).map(({ id }) => id);
  expect(children).toHaveLength(2);
  expect(await walk(`/v1/sessions/${root.id}/child_sessions`, 1)).toEqual(children);
});

it('F095: the log decides the order of statuses, whatever else their sender knew of it', async () => {
  const child = await on.child(await on.root());
  // The contract knows no sequence of the source; what is sent beside it changes nothing.
  await on.status(child.id, 'running', { sequence: 1 });
  await on.status(child.id, 'idle', { sequence: 3 });
  await on.status(child.id, 'running', { sequence: 2 });
  expect(await on.row(child)).toMatchObject({ busy: true, current_task_status: 'in_progress' });
});

it('F097: whoever sees that a child has completed sees its last message in the same answer', async () => {
  const root = await on.root();
  for (let round = 0; round < 8; round += 1) {
    const child = await on.child(root, { title: `writer:${round}` });
    await on.status(child.id, 'running');
    const text = `final ${round} ${'x'.repeat(200_000)}`;
    const async = { headers: { prefer: 'respond-async' } };
    const said = on.event(child.id, 'external_assistant_message', { agent: 'writer', text }, async);
    const ended = said.then(() => on.event(child.id, 'external_session_status', { status: 'idle' }, async));
    // As a client looks that was told by somebody else: without asking for any position.
    const row = await until('the child to have completed', async () => {
      const list = await on.api.get<List<ChildRow>>(`/v1/sessions/${root.id}/child_sessions?limit=1`);
      return list.body.data.find(({ current_task_status }) => current_task_status === 'completed');
    });
    expect(row.id).toBe(child.id);
    expect(row.last_message_preview).toMatch(new RegExp(`^final ${round} x+…$`));
    expect([(await said).status, (await ended).status]).toEqual([202, 202]);
  }
});
