import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { readModels } from '../support/chaos/read-models.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { type SessionBody, roll } from '../support/roll.js';

jest.setTimeout(60_000);

let stack: ExclusiveStack;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
});

afterAll(() => stack.dispose());

it('F133: of 50 sessions written at once over a kill every event is in the rows, at positions of the whole log', async () => {
  const first = await stack.startServer();
  const on = roll(first.url);
  const agent = await on.agent();
  const roots = await Promise.all(Array.from({ length: 50 }, () => on.root({ agent_id: agent.id })));
  const half = roots.length * 2;
  let answered = 0;
  const write = async ({ id }: SessionBody): Promise<void> => {
    for (let index = 0; index < 4; index += 1) {
      await on.message(id, 'user', `message ${index}`);
      answered += 1;
      if (answered === half) void first.end('SIGKILL');
    }
  };
  await Promise.allSettled(roots.map(write));
  expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
  expect(answered).toBeGreaterThanOrEqual(half);

  const second = await stack.startServer();
  const log = await expectAgreement(stack);
  expect(log.filter(({ type }) => type === 'ItemAppended').length).toBeGreaterThanOrEqual(answered);

  // 50 streams of a handful of events each: no revision comes near a position of the whole log.
  const [row] = await readModels(stack.databaseUrl, (schema) => `SELECT position FROM ${schema}.checkpoint`);
  const head = log.at(-1);
  expect(BigInt(row?.['position'] as string)).toBeGreaterThanOrEqual(BigInt(head?.position ?? -1));
  const again = roll(second.url);
  const [root] = roots;
  if (!root) throw new Error('no session was made');
  const written = await again.event(root.id, 'external_session_status', { status: 'running' });
  expect(BigInt(written.headers.get('rollcall-position') ?? -1)).toBeGreaterThan(BigInt(head?.position ?? 0));
  expect((await again.snapshot(root.id)).status).toBe('running');
});
