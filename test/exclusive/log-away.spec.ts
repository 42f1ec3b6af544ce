import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { named, sessionRoutes } from '../contract/session-routes.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { type Roll, type SessionBody, roll } from '../support/roll.js';
import { until } from '../support/until.js';

/** `api.md` 1: without the log nothing is written and nothing is guessed, and the answer says so. */
jest.setTimeout(90_000);

let stack: ExclusiveStack;
let on: Roll;
let known: SessionBody;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  const first = await stack.startServer();
  known = await roll(first.url).root({ title: 'known' });
  await roll(first.url).ask(known.id, { elicitation_id: 'e1' });
  await first.end('SIGTERM');
  // A server that has this session in its rows, but has never read its stream.
  on = roll((await stack.startServer()).url);
  await until('the read models to be there', async () => (await on.api.get('/health')).status === 200);
  await stack.killEventStore();
});

afterAll(() => stack.dispose());

const send = async (id: string) =>
  Promise.all(
    sessionRoutes(id).map(async (call) => {
      const headers: Record<string, string> = call.body ? { 'content-type': 'application/json' } : {};
      const answer = await on.api.raw(call.method, call.path, call.body && JSON.stringify(call.body), {
        headers,
      });
      const { error } = (answer.body ?? {}) as { error?: { code: string } };
      return {
        route: named(call),
        status: answer.status,
        code: error?.code ?? null,
        retry: answer.headers.get('retry-after'),
      };
    }),
  );

it('what needs the log is 503 log_unavailable; what the rows know is answered', async () => {
  const away = { status: 503, code: 'log_unavailable', retry: '1' };
  const [ofKnown, ofUnknown, created] = await Promise.all([
    send(known.id),
    send(`conv_${'0'.repeat(32)}`),
    on.api.post('/v1/sessions', { agent_id: known.agent_id }),
  ]);
  expect(created.body).toMatchObject({ error: { code: 'log_unavailable' } });
  const fromRows = new Set(['GET …', 'GET …/child_sessions', 'GET …/items']);
  for (const { route, ...answer } of ofKnown)
    expect([route, answer]).toEqual([
      route,
      fromRows.has(route) ? { status: 200, code: null, retry: null } : away,
    ]);
  for (const { route, ...answer } of ofUnknown) expect([route, answer]).toEqual([route, away]);
});

it('back again, it goes on as if nothing had been', async () => {
  await stack.bringEventStore();
  await until('the server to be ready', async () => (await on.api.get('/health')).status === 200, {
    within: 20_000,
  });
  const rows = await on.snapshot(known.id);
  expect(rows).toMatchObject({ title: 'known', labels: {}, status: 'idle', closed: false });
  expect(rows.pending_elicitations).toHaveLength(1);
  await on.status(known.id, 'running');
  expect((await on.snapshot(known.id)).status).toBe('running');
});
