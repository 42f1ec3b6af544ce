import { expect, it } from '@jest/globals';
import { type List, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** Area "status". */
const on = roll(stack().a);

async function listedStatus({ id, agent_id }: SessionBody): Promise<string | undefined> {
  const path = `/v1/sessions?kind=any&agent_id=${agent_id ?? ''}`;
  return (await on.api.get<List<SessionBody>>(path)).body.data.find((row) => row.id === id)?.status;
}

it('F018: a child that is used again is busy again, and so is its parent', async () => {
  const parent = await on.root();
  const child = await on.child(parent, { title: 'a:b' });
  await on.status(child.id, 'running');
  await on.status(child.id, 'idle');
  expect(await on.row(child)).toMatchObject({ busy: false, current_task_status: 'completed' });
  await on.message(child.id, 'user', 'once more');
  await on.status(child.id, 'running');
  expect(await on.row(child)).toMatchObject({ busy: true, current_task_status: 'in_progress' });
  expect(await listedStatus(parent)).toBe('running');
  await on.status(child.id, 'idle');
  expect(await on.row(child)).toMatchObject({ busy: false, current_task_status: 'completed' });
  expect(await listedStatus(parent)).toBe('idle');
});

it('F020: a finished child still shows that something below it runs and asks', async () => {
  const parent = await on.root();
  const child = await on.child(parent, { title: 'a:b' });
  const grandchild = await on.child(child, { title: 'c:d' });
  await on.status(grandchild.id, 'running');
  await on.ask(grandchild.id);
  await on.status(child.id, 'running');
  await on.status(child.id, 'idle');
  const asking = { pending_elicitations_count: 1, pending_self: 0, pending_descendants: 1 };
  expect(await on.row(child)).toMatchObject({ busy: false, current_task_status: 'completed', ...asking });
  expect([await listedStatus(parent), await listedStatus(child)]).toEqual(['running', 'running']);
  await on.close(child.id);
  expect(await on.row(child)).toMatchObject(asking);
  expect((await on.snapshot(parent.id)).pending_elicitations).toHaveLength(1);
});

it('F024: what says nothing new is no event, and what is new re-arms nothing', async () => {
  const parent = await on.root();
  const child = await on.child(parent, { title: 'a:b' });
  await on.status(child.id, 'running');
  const message = await on.message(child.id, 'assistant', 'done', { id: 'msg-1' });
  await on.status(child.id, 'idle', { response_id: 'resp_1' });
  const once = await on.row(child);
  for (let index = 0; index < 5; index += 1) await on.status(child.id, 'idle');
  await on.status(child.id, 'idle', { response_id: 'resp_1' });
  // The row and its position: the log has not grown.
  expect(await on.row(child)).toEqual(once);
  await on.rename(child.id, 'a:renamed');
  expect(await on.message(child.id, 'assistant', 'done', { id: 'msg-1' })).toBe(message);
  await on.message(child.id, 'assistant', 'a late word');
  expect(await on.row(child)).toMatchObject({ busy: false, current_task_status: 'completed' });
  expect(await listedStatus(parent)).toBe('idle');
});
