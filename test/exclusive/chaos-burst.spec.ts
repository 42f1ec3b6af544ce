import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { mixedPosts, plantForest, postAll, type Fate, type Post } from '../support/chaos/burst.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';

jest.setTimeout(120_000);

const POSTS = 500;
const KILL_AFTER = 170;

let stack: ExclusiveStack;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
});

afterAll(() => stack.dispose());

const idsIn = ({ body }: { body: JsonObject }): unknown[] => [
  body['id'],
  body['item_id'],
  body['elicitation_id'],
];
const isUnanswered = ([, fate]: [Post, Fate]): boolean => fate === 'unanswered';

it('a kill -9 in the middle of 500 posts loses nothing that was answered and doubles nothing that was tried', async () => {
  const first = await stack.startServer();
  const posts = mixedPosts(await plantForest(first.url), POSTS);
  const kills: Promise<unknown>[] = [];
  const fates = await postAll(first.url, posts, {
    onAnswer: (answered) => {
      if (answered === KILL_AFTER) kills.push(first.end('SIGKILL'));
    },
  });
  await Promise.all(kills);
  const unanswered = [...fates].filter(isUnanswered).map(([post]) => post);
  expect(unanswered.length).toBeGreaterThan(100);
  expect(unanswered.length).toBeLessThan(POSTS - 100);

  const second = await stack.startServer();
  const retried = await postAll(second.url, unanswered);
  const answers = new Map([...fates, ...retried]);
  const badly = [...answers].filter(([, fate]) => fate === 'unanswered' || fate.status >= 300);
  expect(badly).toEqual([]);
  const log = await expectAgreement(stack);

  const again = await postAll(second.url, posts);
  for (const [post, fate] of answers) {
    const repeated = again.get(post);
    if (fate === 'unanswered' || !repeated || repeated === 'unanswered') throw new Error('unanswered');
    expect([repeated.status, ...idsIn(repeated)]).toEqual([fate.status, ...idsIn(fate)]);
  }
  const types = (['ItemAppended', 'SessionSpawned', 'ChildSpawned', 'ElicitationRequested'] as const).map(
    (type) => [type, log.filter((event) => event.type === type).length],
  );
  const after = await expectAgreement(stack);
  expect(types).toEqual(types.map(([type]) => [type, after.filter((event) => event.type === type).length]));
  await expectCountsEqualLists(second.url);
});

/** By HTTP: what a row counts is what the session's own snapshot lists. */
async function expectCountsEqualLists(base: string): Promise<void> {
  const caller = api(base);
  const list = await caller.get<{ data: JsonObject[] }>('/v1/sessions?kind=any&limit=1000');
  const roots = list.body.data.filter((row) => row['parent_session_id'] === null);
  for (const root of roots) {
    const id = root['id'] as string;
    const children = await caller.get<{ data: JsonObject[] }>(`/v1/sessions/${id}/child_sessions?limit=1000`);
    let sum = 0;
    for (const row of children.body.data) {
      const snapshot = await caller.get(`/v1/sessions/${row['id'] as string}`);
      expect((snapshot.body['pending_elicitations'] as unknown[]).length).toBe(
        row['pending_elicitations_count'],
      );
      sum += row['pending_elicitations_count'] as number;
    }
    const snapshot = await caller.get(`/v1/sessions/${id}`);
    expect((snapshot.body['pending_elicitations'] as unknown[]).length).toBe(sum);
    expect(root['pending_elicitations_count']).toBe(sum);
  }
}
