import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { allAnswers } from '../support/chaos/answers.js';
import { type Forest, mixedPosts, plantForest, postAll } from '../support/chaos/burst.js';
import { query, readModels, setSchema } from '../support/chaos/read-models.js';
import { rawEventStore } from '../support/event-store.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import type { Exit, Launched } from '../support/process/launched.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { launchScript } from '../support/process/started-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let forest: Forest;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  forest = await plantForest(server.url, 2, 3);
  await postAll(server.url, mixedPosts(forest, 150));
});

afterAll(() => stack.dispose());

interface Ended extends Exit {
  readonly output: string;
}

function launchRebuild(args: readonly string[]): Launched {
  const { eventStoreUrl: EVENTSTORE_URL, databaseUrl: DATABASE_URL } = stack;
  const env = { EVENTSTORE_URL, DATABASE_URL };
  return launchScript('src/cli/main.js', { name: 'rollcall', args: ['rebuild', ...args], env });
}

async function rebuild(...args: string[]): Promise<Ended> {
  const launched = launchRebuild(args);
  return { ...(await launched.exited), output: launched.output() };
}

const inPlace = expect.stringMatching(/new tables are in place, swapped at position \d+/);

/** So much that a fold of it can be met in the middle. */
async function say(count: number): Promise<void> {
  const [session = ''] = forest.children;
  const body = { type: 'external_assistant_message', data: { agent: 'coder', text: 'on and on' } };
  const posts = Array.from({ length: count }, () => ({
    key: unique('said'),
    path: `/v1/sessions/${session}/events`,
    body,
  }));
  await postAll(server.url, posts);
}

async function answersNow(): Promise<Record<string, string>> {
  const position = (await expectAgreement(stack)).at(-1)?.position ?? '';
  return allAnswers(server.url, position);
}

async function sql(work: (schema: string) => string): Promise<void> {
  const schema = await setSchema(stack.databaseUrl);
  await query(stack.databaseUrl, (client) => client.query(work(schema)));
}

/** The columns that a repair must bring back, whatever was done to them. */
const titles = (): ReturnType<typeof readModels> =>
  readModels(stack.databaseUrl, (schema) => `SELECT id, title FROM ${schema}.sessions ORDER BY id`);

it('F124: twice in a row under writes, a rebuild comes to what the log says, and no read is ever empty or refused', async () => {
  const root = forest.roots[0] ?? '';
  const children = async (): Promise<[number, number]> => {
    const list = await api(server.url).get<{ data: JsonObject[] }>(
      `/v1/sessions/${root}/child_sessions?limit=1000`,
    );
    return [list.status, list.body.data.length];
  };
  let [, least] = await children();
  for (let round = 0; round < 2; round += 1) {
    const rebuilding = { over: false };
    const rebuilt = rebuild('--all').finally(() => (rebuilding.over = true));
    const reading = (async () => {
      while (!rebuilding.over) {
        const [status, count] = await children();
        expect(status).toBe(200);
        expect(count).toBeGreaterThanOrEqual(least);
        least = count;
      }
    })();
    while (!rebuilding.over) {
      const fates = await postAll(server.url, mixedPosts(forest, 40), { lanes: 4 });
      const bad = [...fates.values()].filter((fate) => fate === 'unanswered' || fate.status >= 500);
      expect(bad).toEqual([]);
    }
    expect(await rebuilt).toMatchObject({ code: 0, output: inPlace });
    await reading;
    await expectAgreement(stack);
  }
});

it('a projection that was damaged is repaired while it is served, and no other is touched', async () => {
  const before = await titles();
  const answers = await answersNow();
  await sql((schema) => `UPDATE ${schema}.sessions SET title = 'damaged'`);
  await sql((schema) => `UPDATE ${schema}.child_session_summary SET busy = NOT busy`);
  const damaged = await readModels(
    stack.databaseUrl,
    (schema) => `SELECT * FROM ${schema}.child_session_summary ORDER BY id`,
  );
  expect(await rebuild('sessions')).toMatchObject({ code: 0, output: inPlace });
  expect(await titles()).toEqual(before);
  expect(
    await readModels(stack.databaseUrl, (s) => `SELECT * FROM ${s}.child_session_summary ORDER BY id`),
  ).toEqual(damaged);
  expect(await rebuild('child-session-summary')).toMatchObject({ code: 0, output: inPlace });
  expect(await answersNow()).toEqual(answers);
});

it('indexes and keys of the new tables are those of the old', async () => {
  const definitions = (): ReturnType<typeof readModels> =>
    readModels(
      stack.databaseUrl,
      (schema) =>
        `SELECT tablename, replace(indexdef, indexname, 'index') AS definition
         FROM pg_indexes WHERE schemaname = '${schema}' ORDER BY 1, 2`,
    );
  const before = await definitions();
  expect(before.length).toBeGreaterThan(12);
  expect(await rebuild('--all')).toMatchObject({ code: 0 });
  expect(await definitions()).toEqual(before);
});

it.each<['SIGINT' | 'SIGKILL', string]>([
  ['SIGINT', 'what was folded is kept'],
  ['SIGKILL', ''],
])(
  'stopped by %s in the middle it leaves the live set alone, and the same command goes on',
  async (signal, said) => {
    await say(1_500);
    const answers = await answersNow();
    await sql((schema) => `UPDATE ${schema}.sessions SET title = 'damaged' WHERE title IS NOT NULL`);
    const cut = launchRebuild(['--all']);
    await until('the rebuild is under way', () => cut.output().includes(' events/s'), {
      within: 30_000,
      every: 5,
    });
    cut.child.kill(signal);
    const { code } = await cut.exited;
    expect([code, cut.output()]).toEqual([signal === 'SIGINT' ? 1 : null, expect.stringContaining(said)]);
    const again = await rebuild('--all');
    expect(again).toMatchObject({ code: 0, output: inPlace });
    expect(again.output).toMatch(signal === 'SIGINT' ? /Going on from position \d+/ : /in place/);
    expect(await answersNow()).toEqual(answers);
  },
);

it('two at once: one does it, the other says so', async () => {
  const both = await Promise.all([rebuild('--all'), rebuild('--all')]);
  const told = both.map(({ code, output }) =>
    code === 0 ? 'done' : (/another process is at the same work/.exec(output)?.[0] ?? output),
  );
  expect([
    ['done', 'done'],
    ['another process is at the same work', 'done'],
  ]).toContainEqual(told.sort());
  await expectAgreement(stack);
});

it('a stream that only the fold parks keeps it from swapping, until it is told to', async () => {
  const session = forest.children[0] ?? '';
  const stream = `rollcall.session-${session}`;
  const store = rawEventStore(stack.eventStoreUrl);
  const events = await store.read(stream);
  await store.append(
    stream,
    [{ type: 'SessionTeleported', data: {}, metadata: events[0]?.metadata ?? {} }],
    BigInt(events.length - 1),
  );
  await store.dispose();
  await until('the stream is parked', async () => (await parked()).length === 1);
  // As if the event had not been known as poison when it came.
  await query(stack.databaseUrl, (client) => client.query('DELETE FROM rollcall.parked_streams'));
  expect(await rebuild('--all')).toMatchObject({
    code: 1,
    output: expect.stringMatching(new RegExp(`nothing was swapped:\\s+${stream} from revision`)),
  });
  expect(await parked()).toEqual([]);
  expect(await rebuild('--all', '--even-if-parked')).toMatchObject({ code: 0, output: inPlace });
  expect(await parked()).toEqual([stream]);
  const refused = await api(server.url).post(`/v1/sessions/${session}/events`, {
    type: 'external_assistant_message',
    data: { agent: 'coder', text: unique('x') },
  });
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('stream_parked')]);
});

async function parked(): Promise<string[]> {
  const { rows } = await query(stack.databaseUrl, (client) =>
    client.query<{ stream: string }>(
      `SELECT stream FROM rollcall.parked_streams WHERE set_version NOT LIKE '%rebuild%'`,
    ),
  );
  return rows.map(({ stream }) => stream);
}

it('with the servers stopped and the database empty it fills the read models: the same answers, byte for byte', async () => {
  const position = (await api(server.url).get('/v1/sessions?limit=1')).headers.get('rollcall-position') ?? '';
  const before = await allAnswers(server.url, position);
  await server.end('SIGTERM');
  await query(stack.databaseUrl, async (client) => {
    const { rows } = await client.query<{ nspname: string }>(
      `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall%'`,
    );
    for (const { nspname } of rows) await client.query(`DROP SCHEMA ${nspname} CASCADE`);
  });
  expect(await rebuild('sessions')).toMatchObject({
    code: 1,
    output: expect.stringContaining('run "rollcall rebuild --all"'),
  });
  expect(await rebuild('--all')).toMatchObject({
    code: 0,
    output: expect.stringMatching(/filled up to position \d+/),
  });
  server = await stack.startServer();
  expect(await allAnswers(server.url, position)).toEqual(before);
});

it.each([
  [[], 'name projections, or --all'],
  [['sessions', '--all'], 'name projections, or --all'],
  [['session'], 'there is no projection "session"'],
  [['--everything'], "Unknown option '--everything'"],
])('rebuild %j is a wrong call', async (args, complaint) => {
  expect(await rebuild(...args)).toMatchObject({ code: 2, output: expect.stringContaining(complaint) });
});
