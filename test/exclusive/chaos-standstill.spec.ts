import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest, type Forest } from '../support/chaos/burst.js';
import { query, setSchema } from '../support/chaos/read-models.js';
import { readWholeLog } from '../support/chaos/whole-log.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type Answer, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(120_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let forest: Forest;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  forest = await plantForest(server.url, 1, 1);
});

afterAll(() => stack.dispose());

/** Holds the checkpoint, so that nothing is projected meanwhile although everything is up. */
async function whileNothingIsProjected(work: () => Promise<void>): Promise<void> {
  const schema = await setSchema(stack.databaseUrl);
  await query(stack.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM ${schema}.checkpoint FOR UPDATE`);
    await work();
    await client.query('COMMIT');
  });
}

async function send(
  method: string,
  path: string,
  body: JsonObject,
  key: string,
): Promise<Answer<JsonObject>> {
  return api(server.url).raw(method, path, JSON.stringify(body), {
    headers: { 'content-type': 'application/json', 'idempotency-key': key, prefer: 'respond-async' },
  });
}

it('a repeat is known from the log alone while the read models stand still', async () => {
  const child = forest.children[0] ?? '';
  const commands: [string, string, JsonObject, string][] = [
    ['POST', '/v1/sessions', { agent_id: forest.agentId }, unique('key')],
    ['POST', '/v1/sessions', { parent_session_id: forest.roots[0], title: unique('x') }, unique('key')],
    [
      'POST',
      `/v1/sessions/${child}/events`,
      { type: 'external_assistant_message', data: { agent: 'coder', text: 'x' } },
      unique('key'),
    ],
    [
      'POST',
      `/v1/sessions/${child}/events`,
      { type: 'mcp_elicitation', data: { message: '?' } },
      unique('key'),
    ],
  ];
  await whileNothingIsProjected(async () => {
    const first = [];
    for (const command of commands) first.push(await send(...command));
    expect(first.map(({ headers }) => headers.get('rollcall-projected'))).toEqual(
      commands.map(() => 'false'),
    );
    const length = (await readWholeLog(stack.eventStoreUrl)).length;
    for (const [index, command] of commands.entries()) {
      const again = await send(...command);
      expect([again.status, again.text]).toEqual([first[index]?.status, first[index]?.text]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
    expect(await readWholeLog(stack.eventStoreUrl)).toHaveLength(length);
  });
  await expectAgreement(stack);
});

it('the repeat of an old rename does not undo the newer one', async () => {
  const child = `/v1/sessions/${forest.children[0] ?? ''}`;
  const [older, newer] = [unique('older'), unique('newer')];
  await whileNothingIsProjected(async () => {
    expect((await send('PATCH', child, { title: 'first' }, older)).status).toBe(200);
    expect((await send('PATCH', child, { title: 'second' }, newer)).status).toBe(200);
    const length = (await readWholeLog(stack.eventStoreUrl)).length;
    const again = await send('PATCH', child, { title: 'first' }, older);
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await readWholeLog(stack.eventStoreUrl)).toHaveLength(length);
  });
  await expectAgreement(stack);
  expect((await api(server.url).get(child)).body['title']).toBe('second');
});

it('a node is not ready while events wait and nothing moves, and says so', async () => {
  const health = () => api(server.url).get('/health');
  const idle = await until('the node to be ready', async () => {
    const answer = await health();
    return answer.status === 200 && answer;
  });
  expect(idle.body['projections']).toMatchObject({
    role: 'owner',
    state: 'live',
    parked: 0,
    owner: { gap: 0, gap_estimated: false, lag_ms: 0, standstill_ms: 0, retries: 0 },
  });
  await whileNothingIsProjected(async () => {
    const child = `/v1/sessions/${forest.children[0] ?? ''}`;
    for (const title of ['one', 'two']) await send('PATCH', child, { title }, unique('key'));
    expect((await health()).status).toBe(200);
    const standing = await until(
      'the node to say that nothing moves',
      async () => {
        const answer = await health();
        return answer.status === 503 && answer.body;
      },
      { within: 25_000, every: 100 },
    );
    expect(standing['parts']).toEqual({ log: 'ok', database: 'ok', projections: 'standing_still' });
    const { owner } = standing['projections'] as { owner: Record<string, number> };
    expect(owner['gap']).toBeGreaterThanOrEqual(2);
    expect(Math.min(owner['lag_ms'] ?? 0, owner['standstill_ms'] ?? 0)).toBeGreaterThan(9_000);
  });
  const log = await expectAgreement(stack);
  const again = await until('the node to be ready', async () => {
    const answer = await health();
    return answer.status === 200 && answer.body;
  });
  expect(again['projections']).toMatchObject({ owner: { gap: 0, lag_ms: 0, retries: 0 } });
  const { owner } = again['projections'] as { owner: { checkpoint: string } };
  expect(BigInt(owner.checkpoint)).toBeGreaterThanOrEqual(BigInt(log.at(-1)?.position ?? 0));
});
