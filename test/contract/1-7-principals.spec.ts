import { describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import { api } from '../support/http.js';
import { type List, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';
import { named, sessionRoutes } from './session-routes.js';

/** `contract/sessions.md` 1.7 and design invariant 10, on a server that takes its users from a header. */
const person = (name: string) => `${unique(name)}@example.test`;
const json = { 'content-type': 'application/json' };
const unauthorized = { error: { code: 'unauthorized', message: expect.any(String) } };

const [alice, bob] = [person('alice'), person('bob')];
const [hers, his] = [roll(stack().b, { user: alice }), roll(stack().b, { user: bob })];
const nobody = api(stack().b);

async function tree(): Promise<{ root: SessionBody; child: SessionBody }> {
  const root = await hers.root();
  return { root, child: await hers.child(root, { title: 'a:b' }) };
}

describe('without a user every route is 401', () => {
  it.each([
    { method: 'GET', path: '/v1/sessions' },
    { method: 'POST', path: '/v1/sessions', body: {} },
    { method: 'POST', path: '/v1/agents', body: { name: 'x' } },
    ...sessionRoutes(`conv_${'0'.repeat(32)}`),
  ])('$method $path $body', async ({ method, path, body }) => {
    const answer = await nobody.raw(method, path, body && JSON.stringify(body), {
      headers: body ? json : {},
    });
    expect([answer.status, answer.body]).toEqual([401, unauthorized]);
  });

  it('but the probe is open', async () => {
    expect((await nobody.get('/health')).status).toBe(200);
  });

  it('and waits for no position', async () => {
    for (const position of ['9223372036854775807', 'nonsense']) {
      const answer = await nobody.get('/health', { headers: { 'rollcall-min-position': position } });
      expect([position, answer.status]).toEqual([position, 200]);
    }
  });
});

it.each(['local', '__public__', 'LOCAL', ' ', 'a b', 'zero\u200bwidth', 'x'.repeat(400)])(
  'nobody is called %j: 401',
  async (user) => {
    const header = Buffer.from(user).toString('latin1');
    const answer = await nobody.get('/v1/sessions', { headers: { 'x-forwarded-email': header } });
    expect(answer.status).toBe(401);
  },
);

it('two users in one request are none: 401', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { 'X-Forwarded-Email': [alice, bob] };
    request(new URL('/v1/sessions', stack().b), { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(401);
});

it('a creator owns her sessions, and children carry the owner of their root', async () => {
  const { root, child } = await tree();
  expect(root).toMatchObject({ owner: alice, permission_level: 4 });
  expect(child).toMatchObject({ owner: alice, permission_level: 4 });
});

it('without authentication nobody owns, and all levels are null', async () => {
  expect(await roll(stack().a).root()).toMatchObject({ owner: null, permission_level: null });
});

describe("another user's session is as good as missing", () => {
  const routes = sessionRoutes('ID').map((call) => [named(call), call] as const);

  it.each(routes)('%s', async (_, { method, path, body }) => {
    const { root, child } = await tree();
    await hers.ask(child.id, { elicitation_id: 'elicit_1' });
    const before = [await hers.snapshot(root.id), await hers.snapshot(child.id)];
    const send = (id: string) =>
      his.api.raw(method, path.replace('ID', id), body && JSON.stringify(body), {
        headers: body ? json : {},
      });
    const missing = await send(`conv_${'0'.repeat(32)}`);
    for (const id of [root.id, child.id]) {
      const foreign = await send(id);
      expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
      expect(foreign.headers.has('etag')).toBe(false);
      expect(foreign.headers.has('rollcall-position')).toBe(false);
    }
    expect([await hers.snapshot(root.id), await hers.snapshot(child.id)]).toEqual(before);
  });

  it('as a parent', async () => {
    const { root } = await tree();
    const agent_id = (await his.agent()).id;
    const answer = await his.api.post('/v1/sessions', { agent_id, parent_session_id: root.id });
    expect(answer.status).toBe(404);
    expect(await hers.children(root.id)).toHaveLength(1);
  });

  it('as the owner of an agent', async () => {
    const { id } = await hers.agent();
    expect((await his.api.post('/v1/sessions', { agent_id: id })).status).toBe(404);
    const root = await his.root();
    const answer = await his.api.post('/v1/sessions', { agent_id: id, parent_session_id: root.id });
    expect(answer.status).toBe(404);
  });

  it('in lists', async () => {
    const { root } = await tree();
    const mine = await his.root();
    const list = await his.api.get<List<SessionBody>>('/v1/sessions?kind=any&limit=1000');
    expect(list.body.data.map(({ id }) => id)).toContain(mine.id);
    expect(list.body.data.filter((row) => row['owner'] !== bob)).toEqual([]);
    const filtered = await his.api.get<List<SessionBody>>(`/v1/sessions?agent_id=${root.agent_id ?? ''}`);
    expect(filtered.body.data).toEqual([]);
  });

  it('as a cursor, which says nothing of its existence', async () => {
    const first = await his.root();
    const { root } = await tree();
    await his.root();
    expect(first.id).not.toBe(root.id);
    const after = async (id: string) => (await his.api.get(`/v1/sessions?order=asc&after=${id}`)).body;
    expect(await after(root.id)).toEqual(await after(`conv_${'0'.repeat(32)}`));
    expect(await after(root.id)).toMatchObject({ data: [] });
  });

  it('when a verdict aims at it through a session of his own', async () => {
    const { child } = await tree();
    const id = await hers.ask(child.id, { elicitation_id: unique('elicit') });
    const mine = await his.root();
    expect((await his.resolve(mine.id, id, { action: 'accept' })).status).toBe(202);
    expect(await hers.prompt(child.id, id)).toMatchObject({ status: 'pending' });
  });
});

it('two users may give the same name to their agents', async () => {
  const name = unique('agent');
  const [one, other] = await Promise.all(
    [hers, his].map(({ api: client }) => client.post<{ id: string }>('/v1/agents', { name, spec: {} })),
  );
  expect([one?.status, other?.status]).toEqual([201, 201]);
  expect(one?.body.id).not.toBe(other?.body.id);
});
