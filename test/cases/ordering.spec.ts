import { expect, it } from '@jest/globals';
import { roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

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
