import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { control } from '../support/control.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { type Roll, type SessionBody, roll } from '../support/roll.js';
import { unique } from '../support/unique.js';

/** `api.md` 1 and design 1.4: what commands and reads say while the read models stand still. */
jest.setTimeout(60_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let on: Roll;
let parent: SessionBody;
let holder: Client;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  on = roll(server.url);
  parent = await on.root();
  holder = new Client({ connectionString: stack.databaseUrl });
  await holder.connect();
  await hold(holder);
});

afterAll(async () => {
  await holder.end();
  await stack.dispose();
});

/** Whoever holds the checkpoint's row keeps every batch from being committed; reads go on. */
async function hold(client: Client): Promise<void> {
  const { rows } = await client.query<{ nspname: string }>(
    `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall_set_%'`,
  );
  await client.query('BEGIN');
  for (const { nspname } of rows) await client.query(`SELECT 1 FROM ${nspname}.checkpoint FOR UPDATE`);
}

describe('while the read models stand still', () => {
  it('a command is answered with what it decided, and says that it cannot be read yet', async () => {
    const began = performance.now();
    const answer = await on.api.post<SessionBody>('/v1/sessions', {
      agent_id: parent.agent_id,
      parent_session_id: parent.id,
      title: 'coder:late',
      labels: { colour: 'red' },
    });
    const took = performance.now() - began;
    expect([answer.status, answer.headers.get('rollcall-projected')]).toEqual([201, 'false']);
    expect(answer.body).toMatchObject({
      title: 'coder:late',
      parent_session_id: parent.id,
      agent_id: parent.agent_id,
      labels: { colour: 'red' },
      status: 'idle',
      kind: 'sub_agent',
    });
    expect(took).toBeGreaterThanOrEqual(1_900);
    const position = answer.headers.get('rollcall-position') ?? '';
    const read = await on.api.get(`/v1/sessions/${parent.id}/child_sessions`, {
      headers: { 'rollcall-min-position': position },
    });
    expect([read.status, read.body]).toMatchObject([503, { error: { code: 'read_model_behind' } }]);
    expect(read.headers.get('retry-after')).toBe('1');
  });

  it('a name taken is taken, though no read model knows it', async () => {
    const twin = await on.api.post('/v1/sessions', { parent_session_id: parent.id, title: 'coder:late' });
    expect(twin.status).toBe(409);
  });

  it('a command that does not want to wait is answered at once', async () => {
    const began = performance.now();
    const answer = await on.event(
      parent.id,
      'external_session_status',
      { status: 'running' },
      { headers: { prefer: 'respond-async' } },
    );
    expect(performance.now() - began).toBeLessThan(1_500);
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([202, 'respond-async']);
    expect(answer.headers.get('rollcall-projected')).toBe('false');
  });

  it('a change is answered with the changed session, children counted in its decisions', async () => {
    const answer = await on.api.patch<SessionBody>(`/v1/sessions/${parent.id}`, { title: 'renamed' });
    expect([answer.status, answer.headers.get('rollcall-projected')]).toEqual([200, 'false']);
    expect(answer.body).toMatchObject({ title: 'renamed', status: 'running' });
  });

  it('a keyed command is known again from the tail of the log', async () => {
    const send = () =>
      on.event(
        parent.id,
        'external_assistant_message',
        { agent: 'w', text: 'once' },
        { headers: { 'idempotency-key': 'tail', prefer: 'respond-async' } },
      );
    const first = await send();
    const again = await send();
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('rollcall-projected')).toBe('false');
  });

  it('a prompt just requested is pending: its own stream is asked', async () => {
    const data = { message: 'a\0b', elicitation_id: 'late' };
    const asked = await on.event(parent.id, 'mcp_elicitation', data, {
      headers: { prefer: 'respond-async' },
    });
    const prompt = await on.api.get(`/v1/sessions/${parent.id}/elicitations/late`);
    expect([prompt.status, prompt.body]).toMatchObject([200, { status: 'pending', message: 'a\uFFFDb' }]);
    const [requested, shown] = [asked, prompt].map(({ headers }) => headers.get('rollcall-position'));
    expect(shown).toBe(requested);
  });

  it('a read without a wish answers from what there is', async () => {
    const answer = await on.api.get<SessionBody>(`/v1/sessions/${parent.id}`);
    expect([answer.status, answer.body.title]).toEqual([200, null]);
  });
});

it('a request whose twin is still at work is told so after ten seconds', async () => {
  await control(server.controlSocket).fault('before-append', 'hang');
  const key = { headers: { 'idempotency-key': unique('stuck') } };
  const body = { agent_id: parent.agent_id };
  const stop = new AbortController();
  const first = fetch(new URL('/v1/sessions', server.url), {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...key.headers },
    signal: stop.signal,
  }).catch(() => null);
  const twin = await on.api.post('/v1/sessions', body, key);
  expect([twin.status, twin.body]).toMatchObject([409, { error: { code: 'idempotency_in_progress' } }]);
  stop.abort();
  expect(await first).toBeNull();
});

it('going on, they show all that was answered meanwhile', async () => {
  await holder.query('ROLLBACK');
  const after = roll(server.url);
  const written = await after.event(parent.id, 'external_session_status', { status: 'idle' });
  expect(written.status).toBe(202);
  expect(await after.snapshot(parent.id)).toMatchObject({ title: 'renamed', status: 'idle' });
  expect(await after.children(parent.id)).toMatchObject([{ title: 'coder:late', labels: { colour: 'red' } }]);
  expect(await after.items(parent.id)).toHaveLength(1);
});
