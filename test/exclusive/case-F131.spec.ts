import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { control } from '../support/control.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { type SessionBody, roll } from '../support/roll.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

let stack: ExclusiveStack;
let server: ServerProcess;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
});

afterAll(() => stack.dispose());

/** What a counter that moved twice, or not at all, would show in. */
async function counted(parent: SessionBody, child: SessionBody) {
  const on = roll(server.url);
  const row = await on.row(child);
  const { data } = (
    await on.api.get<{ data: { id: string }[] }>(`/v1/sessions?agent_id=${parent.agent_id ?? ''}`)
  ).body;
  return {
    items: (await on.items(child.id)).length,
    pending: row.pending_elicitations_count,
    above: (await on.snapshot(parent.id))['pending_elicitations_count'],
    preview: row.last_message_preview,
    status: row.current_task_status,
    listed: data.find(({ id }) => id === parent.id),
  };
}

it.each(['before-commit', 'after-commit'])(
  'F131: an engine that dies at %s counts nothing twice and loses nothing',
  async (point) => {
    const before = roll(server.url);
    const parent = await before.root();
    const child = await before.child(parent, { title: 'a:b' });
    await before.message(child.id, 'user', 'one');
    await before.ask(child.id, { elicitation_id: 'e1' });
    await before.status(child.id, 'running');

    await control(server.controlSocket).fault(point, 'exit');
    // All of it in the batches around the death; whoever waits for an answer loses the connection.
    await Promise.all([
      before.message(child.id, 'assistant', 'two').catch(() => undefined),
      before.ask(child.id, { elicitation_id: 'e2' }).catch(() => undefined),
      before.ask(parent.id, { elicitation_id: 'e3' }).catch(() => undefined),
    ]);
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
    server = await stack.startServer();

    const after = roll(server.url);
    // Sent again, as clients do that got no answer: what was stored before is not stored twice.
    await after.ask(child.id, { elicitation_id: 'e2' });
    await after.ask(parent.id, { elicitation_id: 'e3' });
    const settled = await until('the message to be shown', async () => {
      const found = await counted(parent, child);
      return found.preview === 'two' && found;
    });
    expect(settled).toMatchObject({
      items: 2,
      pending: 2,
      above: 3,
      status: 'in_progress',
      listed: { status: 'running', pending_elicitations_count: 3, pending_self: 1 },
    });
    await after.resolve(child.id, 'e1', { action: 'accept' });
    expect(await counted(parent, child)).toMatchObject({ pending: 1, above: 2 });
  },
);
