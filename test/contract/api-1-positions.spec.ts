import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/http.js';
import { type List, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** `api.md` 1: `Rollcall-Position`, `Rollcall-Min-Position`, `Prefer`; design 1.4: read your writes. */
const on = roll(stack().a);
const { api } = on;

const POSITION = /^(?:0|[1-9][0-9]{0,18})$/;
const positionOf = (answer: Answer<unknown>) => answer.headers.get('rollcall-position') ?? '';

describe('a write names its position', () => {
  it('and later writes name later ones', async () => {
    const agent = await on.agent();
    const created = await api.post<SessionBody>('/v1/sessions', { agent_id: agent.id });
    const { id } = created.body;
    const answers = [
      created,
      await api.post('/v1/sessions', { agent_id: agent.id, parent_session_id: id, title: 'a:b' }),
      await on.event(id, 'external_assistant_message', { agent: 'worker', text: 'hi' }),
      await on.event(id, 'external_session_status', { status: 'running' }),
      await on.event(id, 'mcp_elicitation', { message: 'Go ahead?', elicitation_id: 'e1' }),
      await api.post(`/v1/sessions/${id}/elicitations/e1/resolve`, { action: 'accept' }),
      await api.patch(`/v1/sessions/${id}`, { title: 'named' }),
      await api.post(`/v1/sessions/${id}/close`, {}),
    ];
    const positions = answers.map(positionOf);
    for (const position of positions) expect(position).toMatch(POSITION);
    const numbers = positions.map(BigInt);
    expect(numbers).toEqual([...numbers].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('which is that of the last event on the stream', async () => {
    const { id } = await on.root();
    const written = await on.event(id, 'external_session_status', { status: 'running' });
    const read = await on.snapshot(id);
    expect(positionOf(written)).toBe(read['position']);
  });
});

describe('a read names the checkpoint that it was read at', () => {
  it.each(['', '/child_sessions', '/items'])('GET /v1/sessions/{id}%s', async (route) => {
    const { id } = await on.root();
    const written = await on.event(id, 'external_session_status', { status: 'running' });
    const read = await api.get(`/v1/sessions/${id}${route}`);
    expect(positionOf(read)).toMatch(POSITION);
    expect(BigInt(positionOf(read))).toBeGreaterThanOrEqual(BigInt(positionOf(written)));
  });
});

it('an answered command can be read at once, unless it says that it cannot', async () => {
  const { id } = await on.root();
  for (let index = 0; index < 10; index += 1) {
    const written = await on.event(id, 'external_assistant_message', { agent: 'worker', text: `${index}` });
    const { body } = await api.get<List<{ id: string }>>(`/v1/sessions/${id}/items`);
    const listed = body.data.some((item) => item.id === written.body['item_id']);
    expect([listed, written.headers.get('rollcall-projected')]).toEqual([true, null]);
  }
});

describe('Rollcall-Min-Position', () => {
  const reading = (value: string, path: string) =>
    api.get(path, { headers: { 'rollcall-min-position': value } });

  it.each([
    '',
    'abc',
    '-1',
    '01',
    '1.5',
    '1e3',
    '+1',
    '1, 2',
    '0x1',
    '10000000000000000000',
    '１'.normalize('NFKC') + 'x',
  ])('malformed %j is 400', async (value) => {
    const answer = await reading(value, `/v1/sessions/${(await on.root()).id}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('beyond the head of the log is 400', async () => {
    const { id } = await on.root();
    for (const path of [`/v1/sessions/${id}`, `/v1/sessions/${id}/items`, '/v1/sessions']) {
      const answer = await reading('9223372036854775807', path);
      expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_input' } }]);
    }
  });

  it('reached is 200, and the answer is not older', async () => {
    const { id } = await on.root();
    const written = await on.event(id, 'external_session_status', { status: 'running' });
    const answer = await reading(positionOf(written), `/v1/sessions/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'running' });
    expect(BigInt(positionOf(answer))).toBeGreaterThanOrEqual(BigInt(positionOf(written)));
  });

  it('on one node waits for what was written on the other', async () => {
    const person = roll(stack().b, { user: `${unique('alice')}@example.test` });
    const { id } = await person.root();
    for (let index = 0; index < 10; index += 1) {
      const [writer, reader] = index % 2 === 0 ? [person.api, api] : [api, person.api];
      const written = await writer.post(`/v1/sessions/${id}/events`, {
        type: 'external_session_status',
        data: { status: index % 2 === 0 ? 'running' : 'idle' },
      });
      const read = await reader.get<SessionBody>(`/v1/sessions/${id}`, {
        headers: { 'rollcall-min-position': positionOf(written) },
      });
      expect([read.status, read.body.status]).toEqual([200, index % 2 === 0 ? 'running' : 'idle']);
    }
  });

  it('is no business of a write', async () => {
    const { id } = await on.root();
    const answer = await on.event(
      id,
      'external_session_status',
      { status: 'running' },
      { headers: { 'rollcall-min-position': 'abc' } },
    );
    expect(answer.status).toBe(202);
  });
});

describe('Prefer: respond-async', () => {
  it.each(['respond-async', 'Respond-Async', 'wait=5, respond-async', 'respond-async; foo=bar'])(
    '%s is applied, and its position can be waited for',
    async (prefer) => {
      const { id, agent_id } = await on.root();
      const written = await api.post<SessionBody>(
        '/v1/sessions',
        { agent_id, parent_session_id: id, title: 'a:b' },
        { headers: { prefer } },
      );
      expect(written.status).toBe(201);
      expect(written.headers.get('preference-applied')).toBe('respond-async');
      expect(written.body).toMatchObject({ title: 'a:b', parent_session_id: id, status: 'idle' });
      const read = await api.get<List<{ id: string }>>(`/v1/sessions/${id}/child_sessions`, {
        headers: { 'rollcall-min-position': positionOf(written) },
      });
      expect(read.body.data.map((row) => row.id)).toEqual([written.body.id]);
    },
  );

  it.each(['wait=5', 'respond-asynchronously', 'return=minimal'])('%s is not it', async (prefer) => {
    const { id } = await on.root();
    const answer = await on.event(id, 'external_session_status', { status: 'idle' }, { headers: { prefer } });
    expect(answer.headers.has('preference-applied')).toBe(false);
  });
});
