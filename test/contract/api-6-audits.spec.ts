import { describe, expect, it } from '@jest/globals';
import type { AuditBody } from '../support/audit/rollcall-audit.js';
import { api, type Api, type JsonObject } from '../support/http.js';
import { roll } from '../support/roll.js';
import { ADMINISTRATOR, stack } from '../support/stack.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

/** `api.md` 6, `/v1/audits`. One runs at a time, so this file has the only ones of the shared stack. */
const [a, b] = [api(stack().a), api(stack().b, { user: ADMINISTRATOR })];
const SHAPE = /^audit_[0-9a-f]{32}$/;

async function begin(caller: Api, body?: JsonObject): Promise<string> {
  const answer = await caller.post('/v1/audits', body);
  expect([answer.status, answer.body]).toEqual([202, { id: expect.stringMatching(SHAPE), state: 'running' }]);
  return answer.body['id'] as string;
}

function ended(caller: Api, id: string): Promise<AuditBody> {
  return until(
    'the audit to end',
    async () => {
      const { status, body } = await caller.get<AuditBody>(`/v1/audits/${id}`);
      expect(status).toBe(200);
      return body.state !== 'running' && body;
    },
    { within: 60_000, every: 100 },
  );
}

describe('an audit', () => {
  it('is answered at once, shows how far it is, and ends with what it found; any node tells', async () => {
    const id = await begin(a);
    const { body, headers } = await b.get(`/v1/audits/${id}`);
    expect(body).toMatchObject({ id, object: 'audit', state: 'running', differences: [], error: null });
    expect(headers.get('cache-control')).toBe('no-store');
    const report = await ended(b, id);
    expect(report).toMatchObject({
      id,
      object: 'audit',
      state: 'clean',
      session: null,
      position: expect.stringMatching(/^[1-9][0-9]*$/),
      differences: [],
      truncated: false,
      progress: null,
      error: null,
      requested_at: expect.any(Number),
      finished_at: expect.any(Number),
    });
    expect(await ended(a, id)).toEqual(report);
  });

  it('looks at the projections that are named alone', async () => {
    const report = await ended(a, await begin(b, { projections: ['agents', 'sessions'] }));
    expect(report).toMatchObject({
      state: 'clean',
      projections: ['sessions', 'agents'],
      tables: [
        { projection: 'sessions', rows: expect.any(Number) },
        { projection: 'agents', rows: expect.any(Number) },
      ],
    });
  });

  it('looks at the rows of one session and all below it alone', async () => {
    const on = roll(stack().a);
    const root = await on.root();
    const child = await on.child(root, { title: 'a:b' });
    const grandchild = await on.child(child, { title: 'c:d' });
    await on.message(grandchild.id, 'assistant', 'hello');
    await on.child(root, { title: 'beside:it' });
    const report = await ended(a, await begin(a, { session: child.id.replace('conv_', '') }));
    expect(report).toMatchObject({
      state: 'clean',
      session: child.id,
      tables: [
        { projection: 'sessions', rows: 2 },
        { projection: 'child-session-summary', rows: 2 },
        { projection: 'session-rollups', rows: 0 },
        { projection: 'session-items', rows: 1 },
        { projection: 'session-deletions', rows: 0 },
        { projection: 'pending-elicitations', rows: 0 },
        { projection: 'obligations', rows: 1 },
      ],
    });
  });

  it('is refused while another runs, on any node, and can be cancelled from any', async () => {
    const id = await begin(a);
    const second = await b.post('/v1/audits', {});
    expect([second.status, second.body]).toEqual([
      409,
      { error: { code: 'conflict', message: `Another audit runs: ${id}` } },
    ]);
    const cancelled = await b.delete(`/v1/audits/${id}`);
    expect([cancelled.status, cancelled.body]).toMatchObject([
      200,
      { id, state: 'cancelled', error: 'it was cancelled' },
    ]);
    expect((await a.delete(`/v1/audits/${id}`)).body).toEqual(cancelled.body);
    const next = await ended(a, await begin(a, { projections: ['agents'] }));
    expect(next).toMatchObject({ state: 'clean', error: null });
    expect((await a.get(`/v1/audits/${id}`)).body).toEqual(cancelled.body);
  });

  it('that has ended is not cancelled any more', async () => {
    const report = await ended(a, await begin(a, { projections: ['agents'] }));
    expect((await a.delete(`/v1/audits/${report.id}`)).body).toEqual(report);
  });

  it('is the same under the same Idempotency-Key, and not another', async () => {
    const headers = { 'idempotency-key': unique('audit') };
    const body = { projections: ['agents'] };
    const [one, twin] = await Promise.all([0, 1].map(() => a.post('/v1/audits', body, { headers })));
    expect([one?.status, twin?.status, twin?.body['id']]).toEqual([202, 202, one?.body['id']]);
    await ended(a, one?.body['id'] as string);
    const again = await a.post('/v1/audits', body, { headers });
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      202,
      { id: one?.body['id'], state: 'clean' },
      'true',
    ]);
    const other = await a.post('/v1/audits', {}, { headers });
    expect([other.status, other.body]).toMatchObject([409, { error: { code: 'idempotency_mismatch' } }]);
  });
});

describe('a request that makes no sense begins nothing', () => {
  it.each<[unknown, readonly (string | number)[], string]>([
    [{ projections: ['sessions', 'sesions'] }, ['body', 'projections'], 'sesions'],
    [{ projections: ['Sessions'] }, ['body', 'projections'], 'Sessions'],
    [{ projections: ['constructor'] }, ['body', 'projections'], 'constructor'],
    [{ projections: [] }, ['body', 'projections'], ''],
    [{ projections: ['agents', 'agents'] }, ['body', 'projections'], ''],
    [{ projections: 'sessions' }, ['body', 'projections'], 'sessions'],
    [{ projections: { 0: 'sessions' } }, ['body', 'projections'], ''],
    [{ projections: [null] }, ['body', 'projections'], ''],
    [{ projections: [['sessions']] }, ['body', 'projections'], ''],
    [{ projection: ['sessions'] }, ['body', 'projection'], ''],
    [{ session: 7 }, ['body', 'session'], ''],
    [{ session: ['x'] }, ['body', 'session'], ''],
    [{ projections: ['agents'], session: `conv_${'0'.repeat(32)}` }, ['body', 'projections'], ''],
    [[], ['body'], ''],
    ['all', ['body'], ''],
    [null, ['body'], ''],
  ])('%j is 422', async (body, loc) => {
    const answer = await a.raw('POST', '/v1/audits', JSON.stringify(body), {
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(422);
    const [detail] = answer.body['detail'] as { loc: unknown[]; msg: string; type: string }[];
    expect(detail?.loc.slice(0, loc.length)).toEqual(loc);
    expect(detail?.msg).toEqual(expect.stringMatching(/./));
  });

  it.each(['nonsense', '', 'conv_no_such_session', `conv_${'0'.repeat(32)}`, 'a\u0000'])(
    'an unknown session %j is 404',
    async (session) => {
      const answer = await a.post('/v1/audits', { session });
      expect([answer.status, answer.body]).toEqual([
        404,
        { error: { code: 'not_found', message: 'Session not found' } },
      ]);
    },
  );

  it.each(['{', '{"projections":', '\u0000'])('malformed JSON %j is an error of the body', async (body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await a.raw('POST', '/v1/audits', body, { headers });
    expect(answer.status).toBe(422);
  });

  it.each([
    ['GET', 'nonsense'],
    ['GET', `audit_${'0'.repeat(32)}`],
    ['GET', `audit_${'0'.repeat(31)}'`],
    ['GET', '%00'],
    ['DELETE', 'nonsense'],
    ['DELETE', `audit_${'0'.repeat(32)}`],
  ])('%s /v1/audits/%s is 404', async (method, id) => {
    const answer = await a.raw(method, `/v1/audits/${id}`, undefined);
    expect([answer.status, answer.body]).toEqual([
      404,
      { error: { code: 'not_found', message: 'Not found.' } },
    ]);
  });
});

describe('with users', () => {
  const id = `audit_${'0'.repeat(32)}`;
  const calls = [
    ['POST', '/v1/audits'],
    ['POST', '/v1/audits?x=1'],
    ['GET', `/v1/audits/${id}`],
    ['GET', '/v1/audits/nonsense'],
    ['DELETE', `/v1/audits/${id}`],
  ] as const;

  it.each(calls)('%s %s is 403 for everybody but administrators', async (method, path) => {
    for (const user of ['ada@example.test', 'ADMIN@example.test', `${ADMINISTRATOR}x`]) {
      const answer = await api(stack().b, { user }).raw(method, path, undefined);
      expect([user, answer.status, answer.body]).toEqual([
        user,
        403,
        { error: { code: 'forbidden', message: 'Only administrators may do this.' } },
      ]);
    }
  });

  it.each(calls)('%s %s is 401 for nobody', async (method, path) => {
    expect((await api(stack().b).raw(method, path, undefined)).status).toBe(401);
  });
});
