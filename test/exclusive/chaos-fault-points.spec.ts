import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest, type Forest } from '../support/chaos/burst.js';
import { readModels } from '../support/chaos/read-models.js';
import { readWholeLog } from '../support/chaos/whole-log.js';
import { control } from '../support/control.js';
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

const child = (): string => forest.children[0] ?? '';
const root = (): string => forest.roots[0] ?? '';
const item = (text: string): JsonObject => ({
  type: 'external_assistant_message',
  data: { agent: 'coder', text },
});
const post = (path: string, body: JsonObject, key: string): Promise<Answer<JsonObject>> =>
  api(server.url).post(path, body, { headers: { 'idempotency-key': key } });
const inLog = async (text: string): Promise<number> =>
  (await readWholeLog(stack.eventStoreUrl)).filter(({ data }) => JSON.stringify(data).includes(text)).length;
const inRows = async (text: string): Promise<number> => {
  const [row] = await readModels(
    stack.databaseUrl,
    (schema) => `SELECT count(*)::int AS n FROM ${schema}.session_items WHERE payload::text LIKE '%${text}%'`,
  );
  return row?.['n'] as number;
};

/** Posts into a server that dies at `point`. After the commit another connection may have told, so there may be an answer. */
async function dieAt(point: string, path: string, body: JsonObject, key: string): Promise<void> {
  await control(server.controlSocket).fault(point, 'exit');
  const answer = await post(path, body, key).catch(() => null);
  if (point !== 'after-commit') expect(answer).toBeNull();
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
}

async function restart(): Promise<void> {
  server = await stack.startServer();
}

describe('a node that dies between two effects', () => {
  it.each([
    { point: 'before-append', events: 0, rows: [0] },
    // The engine may hear of the event before the append is acknowledged.
    { point: 'after-append', events: 1, rows: [0, 1] },
    { point: 'before-commit', events: 1, rows: [0] },
    { point: 'after-commit', events: 1, rows: [1] },
  ])('at $point: the retry is one effect and one answer', async ({ point, events, rows }) => {
    const text = unique(point);
    const key = unique('key');
    const path = `/v1/sessions/${child()}/events`;
    await dieAt(point, path, item(text), key);
    expect(await inLog(text)).toBe(events);
    expect(rows).toContain(await inRows(text));
    await restart();
    const retried = await post(path, item(text), key);
    expect(retried.status).toBe(202);
    expect(retried.headers.get('idempotency-replayed')).toBe(events === 0 ? null : 'true');
    expect((await post(path, item(text), key)).body).toEqual(retried.body);
    await expectAgreement(stack);
    expect([await inLog(text), await inRows(text)]).toEqual([1, 1]);
  });

  it.each(['before-commit', 'after-commit'])(
    'at %s: what was appended is shown without a retry',
    async (point) => {
      const text = unique(point);
      await dieAt(point, `/v1/sessions/${child()}/events`, item(text), unique('key'));
      await restart();
      await until('the item to be shown', async () => (await inRows(text)) === 1, { within: 8_000 });
      await expectAgreement(stack);
    },
  );

  it('an error in the middle of a batch costs a new start of the engine and nothing else', async () => {
    const text = unique('thrown');
    await control(server.controlSocket).fault('before-commit', 'throw');
    expect((await post(`/v1/sessions/${child()}/events`, item(text), unique('key'))).status).toBe(202);
    await until('the item to be shown', async () => (await inRows(text)) === 1, { within: 8_000 });
    await expectAgreement(stack);
  });
});

describe('a birth that was cut off', () => {
  const spawn = (title: string): JsonObject => ({
    parent_session_id: root(),
    title,
    labels: { made: 'whole' },
  });
  const listed = async (title: string): Promise<JsonObject[]> => {
    const list = await api(server.url).get<{ data: JsonObject[] }>(`/v1/sessions/${root()}/child_sessions`);
    return list.body.data.filter((row) => row['title'] === title);
  };

  it('is carried through by the reactor: the child is there, whole', async () => {
    const title = unique('cut:child');
    await dieAt('between-spawn-and-birth', '/v1/sessions', spawn(title), unique('key'));
    const before = await readWholeLog(stack.eventStoreUrl);
    expect(before.at(-1)).toMatchObject({ type: 'ChildSpawned', data: { name: title } });
    await restart();
    const [row] = await until(
      'the child to be listed',
      async () => {
        const rows = await listed(title);
        return rows.length > 0 && rows;
      },
      { within: 10_000 },
    );
    expect(row).toMatchObject({ title, labels: { made: 'whole' }, parent_session_id: root(), busy: false });
    const snapshot = await api(server.url).get(`/v1/sessions/${row?.['id'] as string}`);
    expect(snapshot.body).toMatchObject({ title, root_conversation_id: root(), parent_session_id: root() });
    await expectAgreement(stack);
  });

  it('keeps the name taken before and after the reactor came', async () => {
    const title = unique('cut:name');
    await dieAt('between-spawn-and-birth', '/v1/sessions', spawn(title), unique('key'));
    await restart();
    expect((await post('/v1/sessions', spawn(title), unique('other'))).status).toBe(409);
    await until('the child to be listed', async () => (await listed(title)).length === 1, { within: 10_000 });
    expect((await post('/v1/sessions', spawn(title), unique('other'))).status).toBe(409);
    await expectAgreement(stack);
  });

  it('is answered to a retry at once, whoever is first to carry it through', async () => {
    const title = unique('cut:retry');
    const key = unique('key');
    await dieAt('between-spawn-and-birth', '/v1/sessions', spawn(title), key);
    await restart();
    const retried = await post('/v1/sessions', spawn(title), key);
    expect(retried.status).toBe(201);
    expect(retried.body).toMatchObject({ title, labels: { made: 'whole' } });
    expect((await post('/v1/sessions', spawn(title), key)).body['id']).toBe(retried.body['id']);
    await expectAgreement(stack);
    expect(await listed(title)).toHaveLength(1);
  });
});
