import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantLine, plantTree, setToWork, type Subtree } from '../support/chaos/subtree.js';
import { readModels } from '../support/chaos/read-models.js';
import { control } from '../support/control.js';
import type { StoredEvent } from '../support/event-store.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type Answer, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

let stack: ExclusiveStack;
let server: ServerProcess;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
});

afterAll(() => stack.dispose());

type Kind = 'interrupt' | 'delete';
const END: Readonly<Record<Kind, string>> = { interrupt: 'SessionInterrupted', delete: 'SessionDeleted' };

function order(kind: Kind, id: string, headers: Record<string, string> = {}): Promise<Answer<JsonObject>> {
  const caller = api(server.url);
  return kind === 'delete'
    ? caller.delete(`/v1/sessions/${id}`, { headers })
    : caller.post(`/v1/sessions/${id}/events`, { type: 'interrupt' }, { headers });
}

const hasEnded = ({ stream, type }: StoredEvent, kind: Kind, id: string): boolean =>
  stream === `rollcall.session-${id}` && type === END[kind];

/** Every session of the subtree has heard of it, exactly once, and the log says that it is over, once. */
function expectWhole(log: readonly StoredEvent[], kind: Kind, { root, below }: Subtree): void {
  for (const id of [root, ...below])
    expect([id, log.filter((event) => hasEnded(event, kind, id)).length]).toEqual([id, 1]);
  const completed = log.filter(
    ({ stream, type, data }) =>
      stream === `rollcall.session-${root}` && type === 'CascadeCompleted' && data['kind'] === kind,
  );
  expect(completed).toHaveLength(1);
}

describe.each<Kind>(['interrupt', 'delete'])('a node that dies while %s goes down a tree', (kind) => {
  it.each([
    ['before the first child is reached', 'before-cascade-step', 0],
    ['between two sessions', 'before-cascade-step', 3],
    // Of the intent itself the first append; on this stack nothing else is written meanwhile.
    ['when the intent is in the log, and nothing else', 'after-append', 0],
    ['between the append of a child and its answer', 'after-append', 2],
    ['before the append of a child', 'before-append', 3],
    // Six sessions hear of it, the root among them: the seventh append says that it is over.
    ['before the end is in the log', 'before-append', 6],
    ['after the end is in the log', 'after-append', 6],
  ])('%s: it is carried through, and nothing twice', async (_when, point, passes) => {
    const tree = await plantTree(server.url, 5, 1);
    await setToWork(server.url, [tree.root, ...tree.below]);
    await control(server.controlSocket).fault(point, 'exit', passes);
    expect(await order(kind, tree.root).catch(() => null)).toBeNull();
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
    server = await stack.startServer();
    expectWhole(await expectAgreement(stack), kind, tree);
  });

  it('before the intent is in the log: nothing happens, and the retry does it', async () => {
    const tree = await plantTree(server.url, 2, 1);
    await setToWork(server.url, tree.below);
    const key = { 'idempotency-key': unique('key') };
    await control(server.controlSocket).fault('before-append', 'exit');
    expect(await order(kind, tree.root, key).catch(() => null)).toBeNull();
    await server.exited;
    server = await stack.startServer();
    const log = await expectAgreement(stack);
    for (const id of tree.below) expect(log.filter((event) => hasEnded(event, kind, id))).toEqual([]);
    expect([200, 202]).toContain((await order(kind, tree.root, key)).status);
    expectWhole(await expectAgreement(stack), kind, tree);
  });
});

it('a repeat under its key carries on what was cut off, with the same answer', async () => {
  const tree = await plantTree(server.url, 5, 1);
  const key = { 'idempotency-key': unique('key') };
  await control(server.controlSocket).fault('before-cascade-step', 'exit', 2);
  expect(await order('delete', tree.root, key).catch(() => null)).toBeNull();
  await server.exited;
  server = await stack.startServer();
  const again = await order('delete', tree.root, key);
  expect([again.status, again.body]).toEqual([
    200,
    { id: tree.root, object: 'conversation.deleted', deleted: true },
  ]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expectWhole(await expectAgreement(stack), 'delete', tree);
});

describe('while a deletion stands still in the middle', () => {
  const PLACE = 3;
  let line: Subtree;
  let above: string;
  let seen: Record<string, string>;
  let answer: Answer<JsonObject>;

  /** A line below a child of another root; the walk down the line stops before its fourth session. */
  beforeAll(async () => {
    line = await plantLine(server.url, 8);
    [, above = ''] = [line.root, line.below[0]];
    await setToWork(server.url, line.below);
    await control(server.controlSocket).fault('before-cascade-step', 'hang', PLACE);
    answer = await order('delete', above, { prefer: 'respond-async' });
    seen = { 'rollcall-min-position': answer.headers.get('rollcall-position') ?? '' };
    await until('the walk to stand still', async () => (await reached()) === PLACE, { within: 10_000 });
  });

  const reached = async (): Promise<number> => {
    const [row] = await readModels(
      stack.databaseUrl,
      (schema) => `SELECT count(*)::int AS n FROM ${schema}.sessions
        WHERE deleted AND '${above}' = ANY(ancestor_ids)`,
    );
    return row?.['n'] as number;
  };

  it('the answer says that it runs, and the list of what is owed too', async () => {
    expect([answer.status, answer.body['cascade']]).toEqual([202, 'running']);
    const health = await api(server.url).get<{ obligations: JsonObject }>('/health');
    expect(health.body.obligations).toMatchObject({ owed: 1, failing: 0 });
  });

  it('everything below is hidden all the same, reached or not', async () => {
    for (const id of line.below) {
      for (const route of ['', '/items', '/child_sessions', `/elicitations/prompt-${id}`]) {
        const read = await api(server.url).get(`/v1/sessions/${id}${route}`, { headers: seen });
        expect([route, read.status]).toEqual([route, 404]);
      }
    }
    const list = await api(server.url).get<{ data: JsonObject[] }>('/v1/sessions?kind=any&limit=1000');
    expect(list.body.data.filter(({ id }) => line.below.includes(id as string))).toEqual([]);
  });

  it('nothing below counts above', async () => {
    const root = await api(server.url).get(`/v1/sessions/${line.root}`, { headers: seen });
    expect(root.body).toMatchObject({ pending_elicitations: [], pending_elicitations_count: 0 });
    const list = await api(server.url).get<{ data: JsonObject[] }>('/v1/sessions?limit=1000');
    expect(list.body.data.find(({ id }) => id === line.root)).toMatchObject({
      status: 'idle',
      pending_elicitations_count: 0,
    });
    const children = await api(server.url).get<{ data: JsonObject[] }>(
      `/v1/sessions/${line.root}/child_sessions`,
    );
    expect(children.body.data).toEqual([]);
  });

  it('commands below are refused, on another node too, and no verdict reaches what is not reached', async () => {
    const other = await stack.startServer();
    const last = line.below.at(-1) ?? '';
    for (const node of [server, other]) {
      const body = { type: 'external_assistant_message', data: { agent: 'w', text: 'late' } };
      await until('the node to refuse', async () => {
        return (await api(node.url).post(`/v1/sessions/${last}/events`, body)).status === 404;
      });
      const child = await api(node.url).post('/v1/sessions', { parent_session_id: last });
      expect(child.status).toBe(404);
      const path = `/v1/sessions/${line.root}/elicitations/prompt-${last}/resolve`;
      expect((await api(node.url).post(path, { action: 'accept' })).status).toBe(202);
    }
    await other.end('SIGTERM');
    const log = await rowsOf('pending_elicitations', `elicitation_id = 'prompt-${last}'`);
    expect(log).toMatchObject([{ state: 'open' }]);
  });

  const rowsOf = (table: string, where: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    readModels(stack.databaseUrl, (schema) => `SELECT * FROM ${schema}.${table} WHERE ${where}`);

  it('the next owner carries it through', async () => {
    await server.end('SIGKILL');
    server = await stack.startServer();
    const log = await expectAgreement(stack);
    expectWhole(log, 'delete', { root: above, below: line.below.slice(1) });
  });
});
