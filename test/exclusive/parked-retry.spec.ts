import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest } from '../support/chaos/burst.js';
import { parkedRow, refuseItemsWith, streamOf, takeItemsWith, writeItems } from '../support/chaos/poison.js';
import { query } from '../support/chaos/read-models.js';
import { control } from '../support/control.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type Answer, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { runProcess } from '../support/process/started-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const MANY = 4_000;

let stack: ExclusiveStack;
let owner: ServerProcess;
let standBy: ServerProcess;
let children: readonly string[];

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  owner = await stack.startServer();
  ({ children } = await plantForest(owner.url, 1, 8));
  standBy = await stack.startServer();
});

afterAll(() => stack.dispose());

const say = (node: ServerProcess, session: string, text = unique('said')): Promise<Answer<JsonObject>> =>
  api(node.url).post(`/v1/sessions/${session}/events`, {
    type: 'external_assistant_message',
    data: { agent: 'coder', text },
  });

const rollcall = (...args: string[]): ReturnType<typeof runProcess> =>
  runProcess('src/cli/main.js', {
    name: 'rollcall',
    args,
    env: { EVENTSTORE_URL: stack.eventStoreUrl, DATABASE_URL: stack.databaseUrl },
  });

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `item ${index}`);

/** A session of its own that is parked, with so many events behind the one that no row can hold. */
async function parked(behind: number): Promise<{ session: string; poison: string; revision: number }> {
  const session = children[(taken += 1)] ?? '';
  const poison = unique('poison').replaceAll('-', '_');
  await refuseItemsWith(stack, poison);
  await writeItems(stack, session, [poison, ...texts(behind)]);
  const row = await until('the stream to be parked', () => parkedRow(stack, session));
  return { session, poison, revision: Number(row['revision']) };
}
let taken = 0;

const isFree = (session: string) => async (): Promise<boolean> => (await parkedRow(stack, session)) === null;

/** The stand-by takes over, and another node stands by from then on. */
async function replaceOwner(): Promise<void> {
  owner = standBy;
  // A server that starts meanwhile could be the one that takes over.
  await until(
    'the stand-by to own the set',
    async () => {
      const { body } = await api(owner.url).get<{ projections: JsonObject }>('/health');
      return body.projections['role'] === 'owner';
    },
    { within: 15_000 },
  );
  standBy = await stack.startServer();
}

it('a retry goes through thousands of events while others go on, and every node soon knows', async () => {
  const { session, poison } = await parked(MANY);
  for (const node of [owner, standBy]) {
    await until('the node to know', async () => (await say(node, session)).status === 503, { within: 1_500 });
  }
  await takeItemsWith(stack, poison);
  let over = false;
  const live = (async () => {
    let answers = 0;
    for (; !over; answers += 1) {
      const answer = await say(owner, children[0] ?? '');
      expect([answer.status, answer.headers.get('rollcall-projected')]).toEqual([202, null]);
    }
    return answers;
  })();
  const retried = await rollcall('projections', 'retry', streamOf(session));
  over = true;
  expect(retried).toMatchObject({ code: 0, output: `${streamOf(session)} is free again\n` });
  expect(await live).toBeGreaterThan(3);
  for (const node of [owner, standBy]) {
    await until('the node to know', async () => (await say(node, session)).status === 202, { within: 1_500 });
    const shown = await api(node.url).get(`/v1/sessions/${session}`);
    expect([shown.status, shown.headers.get('rollcall-parked')]).toEqual([200, null]);
  }
  await expectAgreement(stack);
});

it('what still cannot be applied stays parked, there or further on, and the operator sees it', async () => {
  const { session, poison, revision } = await parked(3);
  const worse = unique('worse').replaceAll('-', '_');
  await refuseItemsWith(stack, worse);
  await writeItems(stack, session, [worse, 'behind it']);
  const again = await rollcall('projections', 'retry', '--all');
  expect([again.code, again.output]).toEqual([
    1,
    expect.stringMatching(`${streamOf(session)} stays parked at revision ${revision} .*${poison}`),
  ]);
  await takeItemsWith(stack, poison);
  const further = await rollcall('projections', 'retry', streamOf(session));
  expect([further.code, further.output]).toEqual([
    1,
    expect.stringMatching(`revision ${revision + 4} .*${worse}`),
  ]);
  expect((await api(owner.url).get(`/v1/sessions/${session}/items`)).text).toContain('item 2');

  const table = await rollcall('projections', 'parked');
  expect([table.code, table.output]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(`^STREAM .*\n${streamOf(session)} +${revision + 4} +ItemAppended +\\S+Z +3 +.*${worse}`),
    ),
  ]);
  const lines = await rollcall('projections', 'parked', '--json');
  expect(JSON.parse(lines.output)).toMatchObject({
    stream: streamOf(session),
    revision: String(revision + 4),
    event_type: 'ItemAppended',
    attempts: 3,
    retry_requested: false,
    reason: expect.stringContaining(worse),
  });

  await takeItemsWith(stack, worse);
  expect((await rollcall('projections', 'retry', '--all')).code).toBe(0);
  expect((await rollcall('projections', 'parked')).output).toBe('No stream is parked.\n');
  expect((await rollcall('projections', 'retry', '--all')).code).toBe(0);
  expect(await rollcall('projections', 'retry', streamOf(session))).toMatchObject({
    code: 2,
    output: expect.stringContaining('is not parked'),
  });
  await expectAgreement(stack);
});

it.each(['before-retry-commit', 'after-retry-commit'])(
  'an owner that dies at %s in the middle of a retry is followed, and nothing is lost or doubled',
  async (point) => {
    const { session, poison, revision } = await parked(1_000);
    await takeItemsWith(stack, poison);
    await control(owner.controlSocket).fault(point, 'exit', 1);
    const retry = rollcall('projections', 'retry', streamOf(session));
    expect(await owner.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(Number((await parkedRow(stack, session))?.['revision'])).toBeGreaterThan(revision);
    expect((await retry).code).toBe(0);
    await replaceOwner();
    await until('commands on the stream', async () => (await say(owner, session)).status === 202);
    await expectAgreement(stack);
  },
);

it('another build that takes the set over retries what is parked, once', async () => {
  const first = await parked(2);
  const second = await parked(2);
  await takeItemsWith(stack, first.poison);
  // The same build again: nothing is retried.
  await owner.end('SIGKILL');
  await replaceOwner();
  await until('the new owner to project', async () => {
    const answer = await say(owner, children[0] ?? '');
    return answer.status === 202 && answer.headers.get('rollcall-projected') === null;
  });
  expect((await parkedRow(stack, first.session))?.['attempts']).toBe(1);

  await query(stack.databaseUrl, (client) =>
    client.query("UPDATE rollcall.projection_sets SET build = 'another'"),
  );
  await owner.end('SIGKILL');
  await replaceOwner();
  await until('the stream to be free', isFree(first.session), { within: 15_000 });
  await until(
    'the other one to be tried',
    async () => (await parkedRow(stack, second.session))?.['attempts'] === 2,
  );
  expect((await parkedRow(stack, second.session))?.['retry_requested_at']).toBeNull();
  await takeItemsWith(stack, second.poison);
  expect((await rollcall('projections', 'retry', '--all')).code).toBe(0);
  await expectAgreement(stack);
});

it('a retry that no server carries out is said to stand, and the next server carries it out', async () => {
  const { session, poison } = await parked(2);
  await takeItemsWith(stack, poison);
  await Promise.all([owner.end('SIGTERM'), standBy.end('SIGTERM')]);
  const asked = await rollcall('projections', 'retry', '--all');
  expect([asked.code, asked.output]).toEqual([2, expect.stringContaining('1 requested retry stands')]);
  owner = await stack.startServer();
  await until('the stream to be free', isFree(session), { within: 15_000 });
  await expectAgreement(stack);
});
