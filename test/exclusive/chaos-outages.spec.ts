import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest, postAll, type Forest, type Post } from '../support/chaos/burst.js';
import { readWholeLog } from '../support/chaos/whole-log.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(120_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let forest: Forest;

beforeAll(async () => {
  stack = await ExclusiveStack.start({ durable: true });
  server = await stack.startServer();
  forest = await plantForest(server.url, 1, 2);
});

afterAll(() => stack.dispose());

const child = (): string => forest.children[0] ?? '';
const health = async (): Promise<number> => (await api(server.url).get('/health')).status;
const logLength = async (): Promise<number> => (await readWholeLog(stack.eventStoreUrl)).length;
const items = (count: number): Post[] =>
  Array.from({ length: count }, () => ({
    key: unique('key'),
    path: `/v1/sessions/${child()}/events`,
    body: { type: 'external_assistant_message', data: { agent: 'coder', text: unique('text') } },
  }));
const textOf = ({ body }: Post): string => (body['data'] as JsonObject)['text'] as string;

async function textsInLog(): Promise<Set<string>> {
  const log = await readWholeLog(stack.eventStoreUrl);
  const said = log
    .filter(({ type }) => type === 'ItemAppended')
    .map(({ data }) => data['payload'] as JsonObject);
  return new Set(
    said.flatMap((payload) => (payload['content'] as JsonObject[]).map((block) => block['text'] as string)),
  );
}

/** Healthy again by itself, as the same process. */
async function recovered(): Promise<void> {
  await until('the node to be healthy again', async () => (await health()) === 200, {
    within: 20_000,
    every: 100,
  });
  const ended = await Promise.race([server.exited, Promise.resolve('runs')]);
  expect(ended).toBe('runs');
}

/** Every post has an answer; what was answered with success is in the log, what was refused as not stored is not. */
async function expectHonest(fates: Awaited<ReturnType<typeof postAll>>, refusal: string): Promise<Post[]> {
  const texts = await textsInLog();
  const refused: Post[] = [];
  for (const [post, fate] of fates) {
    if (fate === 'unanswered') throw new Error(`no answer to ${post.key}`);
    if (fate.status === 503) {
      expect(fate.body).toMatchObject({ error: { code: refusal } });
      expect(Number(fate.headers.get('retry-after'))).toBeGreaterThan(0);
      refused.push(post);
    } else {
      expect(fate.status).toBe(202);
    }
    const isThere = texts.has(textOf(post));
    if (fate.status === 202) expect([textOf(post), isThere]).toEqual([textOf(post), true]);
    else if (JSON.stringify(fate.body).includes('nothing was stored'))
      expect([textOf(post), isThere]).toEqual([textOf(post), false]);
  }
  return refused;
}

describe('while Postgres is away', () => {
  it('every kind of command is refused before it appends, and the node recovers by itself', async () => {
    // A success just before must not speak for the commands that follow.
    await postAll(server.url, items(1));
    await stack.stopPostgres();
    await until('the node to notice', async () => (await health()) === 503, { within: 10_000, every: 5 });
    const before = await logLength();
    const caller = api(server.url);
    const event = `/v1/sessions/${child()}/events`;
    const commands: [string, string, JsonObject][] = [
      ['POST', '/v1/agents', { name: unique('agent') }],
      ['POST', '/v1/sessions', { agent_id: forest.agentId }],
      ['POST', '/v1/sessions', { parent_session_id: forest.roots[0], title: unique('away') }],
      ['PATCH', `/v1/sessions/${child()}`, { title: unique('away') }],
      ['POST', `/v1/sessions/${child()}/close`, {}],
      ['POST', event, { type: 'external_session_status', data: { status: 'running' } }],
      ['POST', event, { type: 'mcp_elicitation', data: { message: '?' } }],
      ['POST', event, { type: 'approval', data: { elicitation_id: 'E', action: 'accept' } }],
      ...items(1).map(({ path, body }): [string, string, JsonObject] => ['POST', path, body]),
    ];
    for (const [method, path, body] of commands) {
      const answer = await caller.raw(method, path, JSON.stringify(body), {
        headers: { 'content-type': 'application/json' },
      });
      expect([path, answer.status, answer.body]).toEqual([
        path,
        503,
        { error: expect.objectContaining({ code: 'database_unavailable' }) as unknown },
      ]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await logLength()).toBe(before);
    await stack.bringPostgres();
    await recovered();
    await expectAgreement(stack);
  });

  it('no post in the moment of its going is answered wrongly, and its retry is one effect', async () => {
    const posts = items(200);
    const stops: Promise<void>[] = [];
    const fates = await postAll(server.url, posts, {
      lanes: 16,
      onAnswer: (answered) => {
        if (answered === 60) stops.push(stack.stopPostgres());
      },
    });
    await Promise.all(stops);
    const refused = await expectHonest(fates, 'database_unavailable');
    expect(refused.length).toBeGreaterThan(0);
    await stack.bringPostgres();
    await recovered();
    const retried = await postAll(server.url, posts);
    expect([...retried.values()].filter((fate) => fate === 'unanswered' || fate.status !== 202)).toEqual([]);
    await expectAgreement(stack);
  });

  it('a Postgres that is killed and comes back at once costs no restart', async () => {
    stack.postgres.kill();
    const fates = await postAll(server.url, items(40), { lanes: 4 });
    await expectHonest(fates, 'database_unavailable');
    await recovered();
    await expectAgreement(stack);
  });
});

describe('while the log is away', () => {
  it('reads go on, commands wait or are refused, and nothing is lost or doubled when it is back', async () => {
    const posts = items(60);
    const kills: Promise<void>[] = [];
    const posting = postAll(server.url, posts, {
      lanes: 16,
      onAnswer: (answered) => {
        if (answered === 20) kills.push(stack.killEventStore());
      },
    });
    await until('the node to notice', async () => (await health()) === 503, { within: 10_000 });
    await Promise.all(kills);
    const list = await api(server.url).get(`/v1/sessions/${forest.roots[0] ?? ''}/child_sessions`);
    expect(list.status).toBe(200);
    await stack.bringEventStore();
    await expectHonest(await posting, 'log_unavailable');
    await recovered();
    const retried = await postAll(server.url, posts);
    expect([...retried.values()].filter((fate) => fate === 'unanswered' || fate.status !== 202)).toEqual([]);
    const log = await expectAgreement(stack);
    const said = log.filter(
      ({ type, data }) =>
        type === 'ItemAppended' && posts.some((post) => JSON.stringify(data).includes(textOf(post))),
    );
    expect(said).toHaveLength(posts.length);
  });
});
