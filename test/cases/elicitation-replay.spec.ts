import { expect, it } from '@jest/globals';
import { roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** Area "elicitation replay". */
const on = roll(stack().a);

it('F040: an answered id that is asked again stays answered, and the answer is not stale', async () => {
  const parent = await on.root();
  const child = await on.child(parent, { title: 'a:b' });
  const unasked = await on.row(child);
  await on.ask(child.id, { elicitation_id: 'e1' });
  await on.resolve(child.id, 'e1', { action: 'accept' });
  // The count is 0 as before, but who watches for changes sees one.
  const answered = await on.row(child);
  expect(answered.pending_elicitations_count).toBe(unasked.pending_elicitations_count);
  expect(answered['position']).not.toBe(unasked['position']);
  const again = await on.event(child.id, 'mcp_elicitation', { message: 'Again?', elicitation_id: 'e1' });
  expect([again.status, again.body]).toEqual([202, { queued: false, elicitation_id: 'e1' }]);
  expect(await on.row(child)).toEqual(answered);
  expect((await on.snapshot(parent.id)).pending_elicitations).toEqual([]);
  expect(await on.prompt(child.id, 'e1')).toEqual({ status: 'resolved' });
});

it('F041: an answer belongs to its prompt, not to the next one of the same words', async () => {
  const { id } = await on.root();
  for (const elicitation_id of ['e1', 'e2']) await on.ask(id, { elicitation_id, message: 'Same words?' });
  await on.resolve(id, 'e1', { action: 'accept' });
  await on.ask(id, { elicitation_id: 'e3', message: 'Same words?' });
  const { pending_elicitations: prompts } = await on.snapshot(id);
  expect(prompts.map(({ elicitation_id }) => elicitation_id)).toEqual(['e2', 'e3']);
  expect(JSON.stringify(prompts)).not.toMatch(/accept|answered/);
  const late = await on.resolve(id, 'e3', { action: 'decline' });
  expect(late.headers.has('rollcall-resolution')).toBe(false);
});
