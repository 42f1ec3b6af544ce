import { describe, expect, it } from '@jest/globals';
import { type List, type SessionBody, type Status, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** `api.md` 2, `contract/sessions.md` 4.4, 6.8 and 6.10, design 13.2: one status, as each surface shows it. */
const on = roll(stack().a);

async function family(): Promise<{ parent: SessionBody; child: SessionBody }> {
  const parent = await on.root();
  return { parent, child: await on.child(parent, { title: 'researcher:auth' }) };
}

async function listed(session: SessionBody): Promise<SessionBody | undefined> {
  const path = `/v1/sessions?kind=any&limit=1000&agent_id=${session.agent_id ?? ''}`;
  return (await on.api.get<List<SessionBody>>(path)).body.data.find(({ id }) => id === session.id);
}

async function everywhere(session: SessionBody) {
  const { status } = await on.snapshot(session.id);
  return { snapshot: status, list: (await listed(session))?.status };
}

describe('a status reads on snapshot and list as', () => {
  it.each([
    [null, 'idle'],
    ['running', 'running'],
    ['waiting', 'running'],
    ['idle', 'idle'],
    ['failed', 'failed'],
  ] as const)('%s: %s', async (status, shown) => {
    const { child } = await family();
    const root = await on.root();
    for (const session of [root, child]) {
      if (status !== null) await on.status(session.id, status);
      expect(await everywhere(session)).toEqual({ snapshot: shown, list: shown });
    }
  });
});

describe('a list row is running while anything below is busy, at any depth', () => {
  it.each(['running', 'waiting'] as const)('%s', async (status) => {
    const { parent, child } = await family();
    const grandchild = await on.child(child, { title: 'a:b' });
    await on.status(grandchild.id, status);
    for (const session of [parent, child])
      expect(await everywhere(session)).toEqual({ snapshot: 'idle', list: 'running' });
    await on.status(parent.id, 'failed');
    expect(await everywhere(parent)).toEqual({ snapshot: 'failed', list: 'running' });
    await on.status(grandchild.id, 'idle');
    expect(await everywhere(parent)).toEqual({ snapshot: 'failed', list: 'failed' });
    expect(await everywhere(child)).toEqual({ snapshot: 'idle', list: 'idle' });
  });
});

it.each(['done', 'RUNNING', '', null, 7, undefined])(
  'the status %j is 400 and changes nothing',
  async (status) => {
    const { child } = await family();
    await on.status(child.id, 'running');
    const before = await on.snapshot(child.id);
    const answer = await on.event(child.id, 'external_session_status', { status });
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_input' } }]);
    expect(await on.snapshot(child.id)).toEqual(before);
  },
);

describe('waiting', () => {
  it('with background work left is idle for a sub-agent', async () => {
    const { child } = await family();
    await on.status(child.id, 'running');
    await on.status(child.id, 'waiting', { background_task_count: 2 });
    expect(await on.row(child)).toMatchObject({ busy: false, current_task_status: 'completed' });
    expect(await on.snapshot(child.id)).toMatchObject({ status: 'idle', background_task_count: 2 });
  });

  it.each([{}, { background_task_count: 0 }, { background_task_count: null }])(
    'with %j waits',
    async (more) => {
      const { child } = await family();
      await on.status(child.id, 'waiting', more);
      expect(await on.row(child)).toMatchObject({ busy: true, current_task_status: 'in_progress' });
    },
  );
});

describe('failed', () => {
  it('stands when idle follows, which is answered as if it had counted', async () => {
    const { child } = await family();
    await on.status(child.id, 'failed', { output: 'it broke' });
    const before = [await on.snapshot(child.id), await on.row(child)];
    const answer = await on.event(child.id, 'external_session_status', { status: 'idle' });
    expect([answer.status, answer.body]).toEqual([202, { queued: false }]);
    expect([await on.snapshot(child.id), await on.row(child)]).toEqual(before);
  });

  it('stands when a waiting that reads idle follows', async () => {
    const { child } = await family();
    await on.status(child.id, 'failed');
    await on.status(child.id, 'waiting', { background_task_count: 1 });
    expect((await on.snapshot(child.id)).status).toBe('failed');
  });

  it.each(['running', 'waiting'] as const)('ends with %s', async (status) => {
    const { child } = await family();
    await on.status(child.id, 'failed');
    await on.status(child.id, status);
    expect(await on.row(child)).toMatchObject({ busy: true, current_task_status: 'in_progress' });
  });

  it.each([
    [{ output: 'it broke' }, 'codex_turn_error'],
    [{ output: 'log in again', reauth_required: true }, 'codex_reauth_required'],
    [{ output: 'it broke', reauth_required: false }, 'codex_turn_error'],
  ])('with %j says why, until running', async (more, code) => {
    const { child } = await family();
    await on.status(child.id, 'failed', more);
    const why = { code, message: more.output };
    expect((await on.row(child))['last_task_error']).toEqual(why);
    expect((await on.snapshot(child.id))['last_task_error']).toEqual(why);
    await on.status(child.id, 'running');
    expect((await on.row(child))['last_task_error']).toBeNull();
    expect((await on.snapshot(child.id))['last_task_error']).toBeNull();
  });

  it.each([{}, { output: '' }, { output: ' \n' }, { output: null }])(
    'with %j leaves the error as it was',
    async (more) => {
      const { child } = await family();
      await on.status(child.id, 'failed', { output: 'first' });
      await on.status(child.id, 'failed', more);
      expect((await on.row(child))['last_task_error']).toEqual({
        code: 'codex_turn_error',
        message: 'first',
      });
    },
  );

  it('shows its error in the labels too, all five of them, and running empties them', async () => {
    const { child } = await family();
    await on.status(child.id, 'failed', { output: 'it broke' });
    const key = (name: string) => `omnigent.last_task_error_${name}`;
    const details = { [key('title')]: '', [key('cause')]: '', [key('remediation')]: '' };
    expect((await on.row(child)).labels).toEqual({
      [key('code')]: 'codex_turn_error',
      [key('message')]: 'it broke',
      ...details,
    });
    await on.status(child.id, 'running');
    expect((await on.row(child)).labels).toEqual({ [key('code')]: '', [key('message')]: '', ...details });
  });

  it('shows an error of any length in labels of 256 characters', async () => {
    const { child } = await family();
    await on.status(child.id, 'failed', { output: '🟡'.repeat(300) });
    const { labels } = await on.row(child);
    expect(labels['omnigent.last_task_error_message']).toBe(`${'🟡'.repeat(255)}…`);
  });
});

describe('error labels that a client writes', () => {
  const write = (id: string, labels: Readonly<Record<string, string | undefined>>) =>
    on.api.patch(`/v1/sessions/${id}`, {
      labels: Object.fromEntries(
        Object.entries(labels).map(([name, value]) => [`omnigent.last_task_error_${name}`, value]),
      ),
    });

  it('are an error with all that they say', async () => {
    const { child } = await family();
    await write(child.id, { code: 'c', message: 'm', title: 't', cause: '', remediation: 'r' });
    expect((await on.row(child))['last_task_error']).toEqual({
      code: 'c',
      message: 'm',
      title: 't',
      remediation: 'r',
    });
  });

  it.each([{ code: 'c' }, { message: 'm' }, { code: '', message: 'm' }, { code: 'c', message: '' }])(
    'are none with %j alone',
    async (labels) => {
      const { child } = await family();
      await write(child.id, labels);
      expect(await on.row(child)).toMatchObject({ last_task_error: null, current_task_status: null });
    },
  );

  it('make a busy child failed and busy, until running clears them', async () => {
    const { child } = await family();
    await on.status(child.id, 'running');
    await write(child.id, { code: 'c', message: 'm' });
    expect(await on.row(child)).toMatchObject({ busy: true, current_task_status: 'failed' });
    await on.status(child.id, 'running');
    expect(await on.row(child)).toMatchObject({
      busy: true,
      current_task_status: 'in_progress',
      last_task_error: null,
    });
  });

  it('count from the first day, on create', async () => {
    const parent = await on.root();
    const child = await on.child(parent, {
      labels: { 'omnigent.last_task_error_code': 'c', 'omnigent.last_task_error_message': 'm' },
    });
    expect(await on.row(child)).toMatchObject({
      current_task_status: 'failed',
      last_task_error: { code: 'c', message: 'm' },
    });
  });

  it('are cleared by empty texts', async () => {
    const { child } = await family();
    await write(child.id, { code: 'c', message: 'm' });
    await write(child.id, { code: '', message: '' });
    expect((await on.row(child))['last_task_error']).toBeNull();
  });
});

describe('the count of background work', () => {
  const steps: readonly (readonly [Status, number | null, number | null])[] = [
    ['running', 3, 3],
    ['running', null, 3],
    ['idle', null, 3],
    ['running', 2, 2],
    ['idle', 0, null],
    ['running', 5, 5],
    ['failed', null, null],
  ];

  it('is stored above 0, cleared by 0 and by failed, and stays when nothing is said', async () => {
    const { child } = await family();
    for (const [status, count, expected] of steps) {
      await on.status(child.id, status, count === null ? {} : { background_task_count: count });
      expect((await on.snapshot(child.id))['background_task_count']).toBe(expected);
    }
  });
});

it('the active response is that of the last busy edge, and none after idle or failed', async () => {
  const { child } = await family();
  const active = async () => (await on.snapshot(child.id))['active_response_id'];
  expect(await active()).toBeNull();
  await on.status(child.id, 'running', { response_id: 'resp_1' });
  expect(await active()).toBe('resp_1');
  await on.status(child.id, 'waiting');
  expect(await active()).toBe('resp_1');
  await on.status(child.id, 'running', { response_id: 'resp_2' });
  expect(await active()).toBe('resp_2');
  await on.status(child.id, 'idle', { response_id: 'resp_2' });
  expect(await active()).toBeNull();
});
