import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { readWholeLog } from '../support/chaos/whole-log.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import type { Answer, JsonObject } from '../support/http.js';
import { type Roll, type SessionBody, roll } from '../support/roll.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

/** A log that stands still holds what was sent to it, and must not write it after its client was told 503. */
jest.setTimeout(120_000);

let stack: ExclusiveStack;
let on: Roll;
let sessions: SessionBody[];

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  on = roll((await stack.startServer()).url);
  const parent = await on.root();
  sessions = await Promise.all(Array.from({ length: 60 }, () => on.child(parent)));
});

afterAll(async () => {
  stack.eventStore.child.kill('SIGCONT');
  await stack.dispose();
});

interface Told {
  readonly text: string;
  readonly key: string;
  readonly answer: Answer<JsonObject>;
  /** Seconds. */
  readonly after: number;
}

async function say(session: SessionBody, text: string, key = unique('key')): Promise<Told> {
  const begin = performance.now();
  const headers = { 'idempotency-key': key };
  const data = { agent: 'coder', text };
  const answer = await on.event(session.id, 'external_assistant_message', data, { headers });
  return { text, key, answer, after: (performance.now() - begin) / 1_000 };
}

const storedTimes = async (text: string): Promise<number> =>
  (await readWholeLog(stack.eventStoreUrl)).filter(({ data }) => JSON.stringify(data).includes(text)).length;

it('what was answered 503 is not stored later, waits in no queue, and can be repeated', async () => {
  stack.eventStore.child.kill('SIGSTOP');
  const told = await Promise.all(
    sessions.flatMap((session) => [1, 2].map(() => say(session, unique('frozen')))),
  );
  expect(told.map(({ answer }) => answer.status)).toEqual(told.map(() => 503));
  // 32 at a time used to wait for each other, 15 s each.
  expect(Math.max(...told.map(({ after }) => after))).toBeLessThan(20);
  const messages = new Set(told.map(({ answer }) => (answer.body['error'] as JsonObject)['message']));
  expect([...messages].sort()).toEqual([
    expect.stringContaining('nothing was stored'),
    expect.stringContaining('same Idempotency-Key'),
  ]);
  // Those without a slot are told as soon as the outage is known.
  expect(told.filter(({ after }) => after < 10).length).toBeGreaterThanOrEqual(2 * (sessions.length - 32));

  stack.eventStore.child.kill('SIGCONT');
  await until('the node to be healthy', async () => (await on.api.get('/health')).status === 200, {
    within: 20_000,
  });
  const marker = unique('after');
  const [first] = sessions;
  if (!first) throw new Error('no session');
  await until('the log to take items again', async () => (await say(first, marker)).answer.status === 202, {
    within: 20_000,
  });
  const log = JSON.stringify(await readWholeLog(stack.eventStoreUrl), (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  expect(told.filter(({ text }) => log.includes(text))).toEqual([]);

  const again = await Promise.all(
    told.map(({ text, key }, index) => say(sessions[Math.floor(index / 2)] ?? first, text, key)),
  );
  expect(again.map(({ answer }) => answer.status)).toEqual(again.map(() => 202));
  const twice = await Promise.all(
    told.slice(0, 4).map(({ text, key }, index) => say(sessions[Math.floor(index / 2)] ?? first, text, key)),
  );
  expect(twice.map(({ answer }) => answer.headers.get('idempotency-replayed'))).toEqual(
    twice.map(() => 'true'),
  );
  expect(await Promise.all(told.slice(0, 8).map(({ text }) => storedTimes(text)))).toEqual(Array(8).fill(1));
  await expectAgreement(stack);
});
