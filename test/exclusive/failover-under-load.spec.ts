import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { availableParallelism } from 'node:os';
import { expectAgreement } from '../support/chaos/agreement.js';
import { mixedPosts, plantForest, postAll } from '../support/chaos/burst.js';
import { epoch } from '../support/chaos/ownership.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import { launch } from '../support/process/launched.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { until } from '../support/until.js';

/** An owner that finds out early that it hears nothing must not think so because everything is slow. */
jest.setTimeout(180_000);

const STANDSTILL_MS = 1_500;

let stack: ExclusiveStack;
let owner: ServerProcess;
let standBy: ServerProcess;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  owner = await stack.startServer();
  standBy = await stack.startServer();
});

afterAll(async () => {
  stack.eventStore.child.kill('SIGCONT');
  await stack.dispose();
});

async function ownership(): Promise<unknown> {
  const { projections } = (await api(owner.url).get('/health')).body as { projections: JsonObject };
  const { retries } = projections['owner'] as JsonObject;
  return { epoch: await epoch(stack.databaseUrl), role: projections['role'], retries };
}

it('a busy owner keeps the set while its machine is overloaded and its log stands still at times', async () => {
  const before = await ownership();
  expect(before).toMatchObject({ role: 'owner', retries: 0 });
  const burners = Array.from({ length: 2 * availableParallelism() }, () =>
    launch(['-e', 'for (;;);'], { name: 'burner' }),
  );
  try {
    for (let round = 0; round < 2; round += 1) {
      const posts = mixedPosts(await plantForest(standBy.url, 1, 2), 120);
      await Promise.all([postAll(owner.url, posts.slice(0, 60)), postAll(standBy.url, posts.slice(60))]);
      stack.eventStore.child.kill('SIGSTOP');
      const since = performance.now();
      await until('the log to have stood still', () => performance.now() - since > STANDSTILL_MS);
      stack.eventStore.child.kill('SIGCONT');
    }
    expect(await ownership()).toEqual(before);
  } finally {
    await Promise.all(burners.map((burner) => burner.end('SIGKILL')));
  }
  await expectAgreement(stack);
  expect(await ownership()).toEqual(before);
});
