import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type ChildRow, type List, type SessionBody, type Status, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** `contract/sessions.md` 11.1, rows 1 to 20. */
const { api, ...on } = roll(stack().a);

async function family(title = 'researcher:auth'): Promise<{ parent: SessionBody; child: SessionBody }> {
  const parent = await on.root();
  return { parent, child: await on.child(parent, { title }) };
}

const childList = (id: string, query = '') =>
  api.get<List<ChildRow>>(`/v1/sessions/${id}/child_sessions${query}`);

describe('row 1: an unknown parent is 404', () => {
  it.each(['conv_nonexistent', randomUUID().replaceAll('-', ''), randomUUID(), `conv_${'0'.repeat(32)}`])(
    '%s',
    async (id) => {
      const answer = await childList(id);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ error: { code: 'not_found' } });
    },
  );
});

it('row 2: a parent without children gives an empty page with null ids', async () => {
  const parent = await on.root();
  const answer = await childList(parent.id);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
});

it('row 3: a child has the full shape', async () => {
  const { parent, child } = await family();
  const answer = await childList(parent.id);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ first_id: child.id, last_id: child.id, has_more: false });
  expect(answer.body.data).toHaveLength(1);
  expect(answer.body.data[0]).toMatchObject({
    id: child.id,
    object: 'child_session',
    parent_session_id: parent.id,
    title: 'researcher:auth',
    task_summary: null,
    tool: 'researcher',
    session_name: 'auth',
    kind: 'sub_agent',
    created_at: expect.any(Number),
    updated_at: expect.any(Number),
    agent_id: parent.agent_id,
    agent_name: null,
    current_task_id: null,
    current_task_status: null,
    busy: false,
    labels: {},
    last_task_error: null,
    last_message_preview: null,
    pending_elicitations_count: 0,
    routed_model: null,
    routing_decision_id: null,
  });
});

it('row 3: a child row carries the fields of section 4.2 and the listed additions, nothing else', async () => {
  const { child } = await family();
  const contract =
    `id object parent_session_id title task_summary tool session_name kind created_at updated_at agent_id
    agent_name current_task_id current_task_status busy labels last_task_error last_message_preview
    pending_elicitations_count routed_model routing_decision_id`.split(/\s+/);
  const ours = ['pending_self', 'pending_descendants', 'oldest_pending_at', 'position'];
  const additions = new Set([...ours, 'status', 'closed', 'archived']);
  const keys = Object.keys(await on.row(child));
  expect(keys).toEqual(expect.arrayContaining(contract));
  expect(keys.filter((key) => !contract.includes(key) && !additions.has(key))).toEqual([]);
});

it('row 4: error labels make a durable failure', async () => {
  const { child } = await family();
  const labels = {
    'omnigent.last_task_error_code': 'required_terminal_exited',
    'omnigent.last_task_error_message': 'Required terminal exited unexpectedly',
  };
  expect((await api.patch(`/v1/sessions/${child.id}`, { labels })).status).toBe(200);
  const row = await on.row(child);
  expect(row).toMatchObject({ busy: false, current_task_status: 'failed' });
  expect(row['last_task_error']).toEqual({
    code: 'required_terminal_exited',
    message: 'Required terminal exited unexpectedly',
  });
});

it('row 5: an open prompt of the child counts', async () => {
  const { child } = await family();
  await on.ask(child.id, { elicitation_id: 'elicit_q1', mode: 'form', message: 'Pick one' });
  expect((await on.row(child)).pending_elicitations_count).toBe(1);
});

it("row 6: the parent's snapshot replays the child's prompt and says whom to answer", async () => {
  const { parent, child } = await family('researcher:needs-approval');
  await on.ask(child.id, {
    elicitation_id: 'elicit_child_q1',
    mode: 'form',
    message: 'Approve child command',
    phase: 'codex_command_approval',
  });
  const { pending_elicitations: prompts } = await on.snapshot(parent.id);
  expect(prompts).toEqual([
    {
      type: 'response.elicitation_request',
      elicitation_id: 'elicit_child_q1',
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Approve child command',
        phase: 'codex_command_approval',
        target_session_id: child.id,
      },
      sequence_number: null,
    },
  ]);
});

it('row 7: a child without prompts counts 0, whatever others ask', async () => {
  const { parent, child } = await family();
  const sibling = await on.child(parent, { title: 'researcher:other' });
  await on.ask(sibling.id);
  expect((await on.row(child)).pending_elicitations_count).toBe(0);
});

it('row 8: a child without an agent is listed', async () => {
  const parent = await on.root();
  const child = await on.child(parent, { title: 'coder:fix-bug', agent_id: null });
  expect(await on.children(parent.id)).toMatchObject([
    {
      id: child.id,
      tool: 'coder',
      session_name: 'fix-bug',
      agent_id: null,
      agent_name: null,
      current_task_id: null,
      current_task_status: null,
      busy: false,
    },
  ]);
});

it('row 9: the preview is the latest message', async () => {
  const { child } = await family();
  await on.message(child.id, 'user', 'find the auth bug');
  await on.message(child.id, 'assistant', 'investigating now');
  await on.message(child.id, 'assistant', 'Found a stale token check in auth/middleware.py');
  expect((await on.row(child)).last_message_preview).toBe('Found a stale token check in auth/middleware.py');
});

it('row 10: the preview passes over meta messages', async () => {
  const { child } = await family();
  await on.message(child.id, 'assistant', 'Visible child progress');
  await on.message(child.id, 'user', '<skill>hidden</skill>', { is_meta: true });
  expect((await on.row(child)).last_message_preview).toBe('Visible child progress');
});

describe('rows 11 and 12: busy and task status follow the status', () => {
  it.each([
    ['running', true, 'in_progress'],
    ['waiting', true, 'in_progress'],
    ['idle', false, 'completed'],
    ['failed', false, 'failed'],
  ] as const)('%s: busy %s, task %s', async (status, busy, task) => {
    const { parent, child } = await family();
    await on.status(child.id, status);
    expect(await on.row(child)).toMatchObject({ busy, current_task_status: task });
    expect((await on.snapshot(parent.id)).status).toBe('idle');
  });
});

it('row 13: a long message is cut to 150 characters with an ellipsis', async () => {
  const { child } = await family();
  await on.message(child.id, 'assistant', 'x'.repeat(200));
  expect((await on.row(child)).last_message_preview).toBe(`${'x'.repeat(149)}…`);
});

it('row 14: a title without a colon is the tool', async () => {
  const { child } = await family('legacy-untyped');
  expect(await on.row(child)).toMatchObject({
    title: 'legacy-untyped',
    tool: 'legacy-untyped',
    session_name: null,
  });
});

describe('row 15: titles of agents that a person added', () => {
  it.each([
    ['ui:claude-native-ui:1', 'claude-native-ui', '1'],
    ['ui:codex:my-task-2', 'codex', 'my-task-2'],
    ['ui:claude-native-ui:a:b:c', 'claude-native-ui', 'a:b:c'],
  ])('%s', async (title, tool, name) => {
    const { child } = await family(title);
    expect(await on.row(child)).toMatchObject({ title, tool, session_name: name });
  });
});

async function trio(): Promise<{ parent: SessionBody; ids: readonly [string, string, string] }> {
  const parent = await on.root();
  const first = await on.child(parent, { title: 'researcher:a' });
  const second = await on.child(parent, { title: 'researcher:b' });
  const third = await on.child(parent, { title: 'researcher:c' });
  return { parent, ids: [first.id, second.id, third.id] };
}

it('row 16: the newest child comes first', async () => {
  const { parent, ids } = await trio();
  const listed = await on.children(parent.id);
  expect(listed.map(({ id }) => id)).toEqual([...ids].reverse());
});

it('row 17: limit cuts the page and has_more tells', async () => {
  const { parent, ids } = await trio();
  const answer = await childList(parent.id, '?limit=2');
  expect(answer.body).toMatchObject({ has_more: true, first_id: ids[2], last_id: ids[1] });
  expect(answer.body.data).toHaveLength(2);
  expect((await childList(parent.id, '?limit=3')).body.has_more).toBe(false);
});

it('row 18: each parent lists its own children, and not its grandchildren', async () => {
  const [one, other] = await Promise.all([family('researcher:only-in-a'), family('researcher:only-in-b')]);
  await on.child(one.child, { title: 'deep:er' });
  expect((await on.children(one.parent.id)).map(({ id }) => id)).toEqual([one.child.id]);
  expect((await on.children(other.parent.id)).map(({ id }) => id)).toEqual([other.child.id]);
});

it('row 19: a child retitled with its own tombstone reads closed and takes no user message', async () => {
  const { child } = await family();
  await on.rename(child.id, `researcher:auth:closed:${child.id}`);
  const labels = { 'omnigent.closed': 'true' };
  expect(await on.row(child)).toMatchObject({
    title: 'researcher:auth',
    tool: 'researcher',
    session_name: 'auth',
    labels,
  });
  expect(await on.snapshot(child.id)).toMatchObject({ title: 'researcher:auth', labels });
  const content = [{ type: 'input_text', text: 'please continue' }];
  const refused = await on.event(child.id, 'message', { role: 'user', content });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('Session is closed');
  expect(refused.body).toMatchObject({ error: { code: 'conflict' } });
});

it('row 20: fields of eight children stay with their own child', async () => {
  const parent = await on.root();
  const cycle: readonly (Status | null)[] = ['running', 'waiting', 'idle', 'failed', null];
  const expected = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const tool = `agent${index}`;
      const session_name = `task-${index}`;
      const child = await on.child(parent, { title: `${tool}:${session_name}` });
      const preview = `child ${index} latest status line`;
      await on.message(child.id, 'assistant', preview);
      const status = cycle[index % cycle.length] ?? null;
      if (status !== null) await on.status(child.id, status);
      return {
        id: child.id,
        tool,
        session_name,
        last_message_preview: preview,
        busy: status === 'running' || status === 'waiting',
        agent_id: parent.agent_id,
      };
    }),
  );
  const rows = await on.children(parent.id);
  expect(rows).toHaveLength(8);
  const byId = new Map(rows.map((row) => [row.id, row]));
  expect(expected.map(({ id }) => byId.get(id))).toMatchObject(expected);
});
