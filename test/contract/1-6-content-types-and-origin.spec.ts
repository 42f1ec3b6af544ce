import { describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import { type Api, api } from '../support/http.js';
import { roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** `contract/sessions.md` 1.6; `api.md` 1 on `Host`. */
const on = roll(stack().a);
const alice = { user: `${unique('alice')}@example.test` };

async function create(client: Api, headers: Record<string, string>) {
  const agent = await client.post<{ id: string }>('/v1/agents', { name: unique('agent') });
  const body = JSON.stringify({ agent_id: agent.body.id });
  return client.raw('POST', '/v1/sessions', Buffer.from(body), { headers });
}

describe('POST /v1/sessions reads', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.omnigent+json',
    'application/problem+json; charset=utf-8',
  ])('%s', async (type) => {
    expect((await create(on.api, { 'content-type': type })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/octet-stream',
    'nonsense',
  ])('%s not: 415', async (type) => {
    const answer = await create(on.api, { 'content-type': type });
    expect([answer.status, answer.body]).toEqual([415, { detail: expect.any(String) }]);
  });

  it('nothing without a content type: 415', async () => {
    const answer = await on.api.raw('POST', '/v1/sessions', undefined);
    expect([answer.status, answer.body]).toEqual([415, { detail: expect.any(String) }]);
  });
});

const json = { 'content-type': 'application/json' };

describe('without authentication', () => {
  it.each([
    undefined,
    'omnigent://internal',
    'http://localhost',
    'http://localhost:3000',
    'https://127.0.0.1:8443',
    'http://[::1]:6767',
  ])('the origin %s may write', async (origin) => {
    const headers = origin === undefined ? json : { ...json, origin };
    expect((await create(on.api, headers)).status).toBe(201);
  });

  it.each([
    'https://evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://evil.example#localhost',
    'null',
    '',
    'omnigent://internal.evil.example',
  ])('the origin %j may not write, on any route', async (origin) => {
    const { id } = await on.root();
    const extra = { headers: { origin } };
    for (const answer of [
      await create(on.api, { ...json, origin }),
      await on.api.patch(`/v1/sessions/${id}`, { title: 'stolen' }, extra),
      await on.api.post(`/v1/sessions/${id}/close`, {}, extra),
      await on.event(id, 'external_session_status', { status: 'running' }, extra),
    ]) {
      expect([answer.status, answer.body]).toEqual([403, { detail: expect.any(String) }]);
    }
    expect(await on.snapshot(id)).toMatchObject({ title: null, status: 'idle', closed: false });
  });

  it('reading is for any origin, and no answer invites scripts of another site', async () => {
    const { id } = await on.root();
    const answer = await on.api.get(`/v1/sessions/${id}`, { headers: { origin: 'https://evil.example' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1'])(
    'the host name %s is not served, so that no page can point its own name at us',
    async (host) => {
      expect(await statusAt(stack().a, host)).toBe(403);
    },
  );

  it.each(['localhost', 'localhost:6767', '127.0.0.1', '[::1]:80'])(
    'the host name %s is served',
    async (host) => {
      expect(await statusAt(stack().a, host)).toBe(200);
    },
  );
});

describe('with authentication', () => {
  it.each(['https://app.example', 'http://localhost', 'null'])('the origin %s may write', async (origin) => {
    expect((await create(api(stack().b, alice), { ...json, origin })).status).toBe(201);
  });

  it('any host name is served', async () => {
    expect(await statusAt(stack().b, 'rollcall.example')).toBe(200);
  });
});

/** `fetch` lets nobody choose the Host header. */
function statusAt(base: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(new URL('/health', base), { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

it('snapshots are not stored by caches', async () => {
  const { id } = await on.root();
  const answer = await on.api.get(`/v1/sessions/${id}`);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

it('every answer forbids guessing its type, framing and telling where one came from', async () => {
  for (const path of ['/health', '/nowhere', `/v1/sessions/${(await on.root()).id}`]) {
    const { headers } = await on.api.get(path);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  }
});
