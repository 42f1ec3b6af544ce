import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest, type Forest } from '../support/chaos/burst.js';
import { epoch } from '../support/chaos/ownership.js';
import { say } from '../support/chaos/say.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import { type BlackHole, blackHoleBefore } from '../support/process/black-hole.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

/** A connection that is dead and never says so: a cable that was cut, a firewall that forgot. */
jest.setTimeout(180_000);

const TAKEOVER_MS = 5_000;

let stack: ExclusiveStack;
let forest: Forest;
let toPostgres: BlackHole;
let toLog: BlackHole;
let owner: ServerProcess;
let other: ServerProcess;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  toPostgres = await blackHoleBefore(stack.databaseUrl);
  toLog = await blackHoleBefore(stack.eventStoreUrl);
  owner = await stack.startServer({ databaseUrl: toPostgres.url, eventStoreUrl: toLog.url });
  forest = await plantForest(owner.url, 1, 1);
  other = await stack.startServer();
  await until('both nodes to be healthy', async () => (await health(owner)) + (await health(other)) === 400);
});

afterAll(async () => {
  await stack.dispose();
  await toPostgres.close();
  await toLog.close();
});

const health = async (node: ServerProcess): Promise<number> => (await api(node.url).get('/health')).status;
const ownerEpoch = (): Promise<number> => epoch(stack.databaseUrl);

async function healed(node: ServerProcess, of: number): Promise<void> {
  await until('the former owner to be healthy', async () => (await health(node)) === 200, { within: 40_000 });
  for (const text of ['healed', 'again']) await say(node, forest, unique(text));
  await say(other, forest, unique('other'));
  expect(await ownerEpoch()).toBe(of);
  await expectAgreement(stack);
}

it('a node that stands by says how the owner is getting on', async () => {
  const told = await until('the owner to have told', async () => {
    const { projections } = (await api(other.url).get('/health')).body as { projections: JsonObject };
    return projections['owner'] !== null && projections;
  });
  expect(told).toMatchObject({ role: 'standby', state: 'standing-by', owner: { gap: 0, retries: 0 } });
  const own = (await api(owner.url).get('/health')).body['projections'] as JsonObject;
  expect(own).toMatchObject({ role: 'owner', set: told['set'] });
});

it('an owner that Postgres no longer hears is followed within 5 s, and fenced when it is heard again', async () => {
  const before = await ownerEpoch();
  toPostgres.swallow();
  const cut = performance.now();
  const taken = until('the other node to take over', async () => (await ownerEpoch()) > before, {
    within: TAKEOVER_MS,
  });
  for (let count = 0; count < 5; count += 1) await say(other, forest, unique('during'));
  await taken;
  expect(performance.now() - cut).toBeLessThan(2 * TAKEOVER_MS);
  expect(await health(owner)).toBe(503);
  const after = await ownerEpoch();

  toPostgres.letThrough();
  await healed(owner, after);
});

it('an owner that no longer hears the log gives the set up to a node that does', async () => {
  await other.end('SIGTERM');
  await until(
    'the node behind the hole to own the set',
    async () => (await ownerEpoch()) > 0 && (await health(owner)) === 200,
    {
      within: 10_000,
    },
  );
  other = await stack.startServer();
  const before = await ownerEpoch();

  toLog.swallow();
  const cut = performance.now();
  const text = unique('unheard');
  const body = { type: 'external_assistant_message', data: { agent: 'coder', text } };
  const path = `/v1/sessions/${forest.children[0] ?? ''}/events`;
  expect((await api(other.url).post(path, body)).status).toBe(202);
  await until('the other node to take over', async () => (await ownerEpoch()) > before, {
    within: TAKEOVER_MS,
  });
  expect(performance.now() - cut).toBeLessThan(TAKEOVER_MS);
  for (let count = 0; count < 5; count += 1) await say(other, forest, unique('during'));
  expect(await health(owner)).toBe(503);
  const after = await ownerEpoch();

  toLog.letThrough();
  await healed(owner, after);
});
