import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Client } from 'pg';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest, type Forest } from '../support/chaos/burst.js';
import { epoch as ownerEpoch } from '../support/chaos/ownership.js';
import { query, setSchema } from '../support/chaos/read-models.js';
import { say as sayAt } from '../support/chaos/say.js';
import { control } from '../support/control.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api, type JsonObject } from '../support/http.js';
import type { ServerProcess } from '../support/process/server-process.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(120_000);

const TAKEOVER_MS = 5_000;

let stack: ExclusiveStack;
let forest: Forest;
let owner: ServerProcess;
let standBy: ServerProcess;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  owner = await stack.startServer();
  forest = await plantForest(owner.url, 1, 1);
  standBy = await stack.startServer();
});

afterAll(async () => {
  for (const { child } of [owner, standBy]) child.kill('SIGCONT');
  await stack.dispose();
});

const epoch = (): Promise<number> => ownerEpoch(stack.databaseUrl);
const say = (node: ServerProcess, text: string): Promise<void> => sayAt(node, forest, text);

const health = (node: ServerProcess): Promise<number> =>
  api(node.url)
    .get('/health')
    .then(({ status }) => status);
const role = async (node: ServerProcess): Promise<unknown> =>
  ((await api(node.url).get('/health')).body['projections'] as JsonObject)['role'];

it('an owner that is killed is followed within 5 s, while commands go on and read their own writes', async () => {
  const before = await epoch();
  const killed = performance.now();
  await owner.end('SIGKILL');
  const taken = until('the other node to take over', async () => (await epoch()) > before, {
    within: TAKEOVER_MS,
  });
  for (let count = 0; count < 5; count += 1) await say(standBy, unique('during'));
  await taken;
  expect(performance.now() - killed).toBeLessThan(2 * TAKEOVER_MS);
  await expectAgreement(stack);
  owner = standBy;
  standBy = await stack.startServer();
  await say(standBy, unique('after'));
});

interface Backend {
  readonly pid: number;
  readonly state: string;
  readonly waits: string | null;
}

/** The connections by which read models are fed. Looked at from outside any transaction, which would see one state for ever. */
const backends = (): Promise<Backend[]> =>
  query(stack.databaseUrl, async (client) => {
    const { rows } = await client.query<Backend>(
      `SELECT pid, state, wait_event_type AS waits FROM pg_stat_activity WHERE application_name = 'rollcall-engine'`,
    );
    return rows;
  });

/** Which transaction wrote the checkpoint, and every row of the prompts: whatever is written changes them. */
async function written(client: Client, schema: string): Promise<unknown> {
  const { rows } = await client.query(
    `SELECT 'checkpoint' AS what, xmin::text FROM ${schema}.checkpoint
     UNION ALL SELECT 'items', count(*)::text FROM ${schema}.session_items
     UNION ALL SELECT 'prompts', count(*)::text FROM ${schema}.pending_elicitations`,
  );
  return rows;
}

/** Waits for the owner to hang at a lock, and stops it there. */
async function stopAtLock(): Promise<Backend> {
  const backend = await until('the owner to wait for a lock', async () =>
    (await backends()).find(({ waits }) => waits === 'Lock'),
  );
  process.kill(owner.pid, 'SIGSTOP');
  return backend;
}

it('an owner that was stopped inside its transaction is followed within 5 s, and its commit comes to nothing', async () => {
  const before = await epoch();
  const schema = await setSchema(stack.databaseUrl);
  // What is armed, however far off, makes the owner commit by a statement of its own.
  await control(owner.controlSocket).fault('before-commit', 'throw', 1_000_000);
  await query(stack.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM ${schema}.checkpoint FOR UPDATE`);
    const spoken = say(standBy, unique('frozen'));
    const { pid } = await stopAtLock();
    const stopped = performance.now();
    await client.query('ROLLBACK');
    await until('its transaction to be left open', async () =>
      (await backends()).find((one) => one.pid === pid && one.state === 'idle in transaction'),
    );
    await until('the other node to take over', async () => (await epoch()) > before, { within: TAKEOVER_MS });
    expect(performance.now() - stopped).toBeLessThan(TAKEOVER_MS);
    expect((await backends()).map((one) => one.pid)).not.toContain(pid);
    await spoken;
    await expectAgreement(stack);

    const after = await epoch();
    const stored = await written(client, schema);
    process.kill(owner.pid, 'SIGCONT');
    await until('the old owner to stand by', async () => (await health(owner)) === 200, { within: 10_000 });
    expect([await epoch(), await written(client, schema)]).toEqual([after, stored]);
  });
  await control(owner.controlSocket).disarm();
  await say(owner, unique('standing by'));
  await expectAgreement(stack);
  [owner, standBy] = [standBy, owner];
});

it('an owner that was stopped before it sent its batch is refused by its epoch when it wakes', async () => {
  const before = await epoch();
  const schema = await setSchema(stack.databaseUrl);
  await query(stack.databaseUrl, async (client) => {
    await client.query('BEGIN');
    // A prompt that is new has to be looked for, and then the batch is folded and sent.
    await client.query(`LOCK TABLE ${schema}.pending_elicitations`);
    const path = `/v1/sessions/${forest.children[0] ?? ''}/events`;
    const ask = { type: 'mcp_elicitation', data: { elicitation_id: unique('prompt'), message: '?' } };
    const headers = { prefer: 'respond-async' };
    expect((await api(standBy.url).post(path, ask, { headers })).status).toBe(202);
    const { pid } = await stopAtLock();
    await until('the other node to take over', async () => (await epoch()) > before, { within: TAKEOVER_MS });
    const after = await epoch();
    await until('the other node to wait for the lock as well', async () =>
      (await backends()).find((one) => one.pid !== pid && one.waits === 'Lock'),
    );
    // So that it is not first to write what the old owner is about to.
    process.kill(standBy.pid, 'SIGSTOP');
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rollcall-engine' AND pid <> $1`,
      [pid],
    );
    const stored = await written(client, schema);
    await client.query('ROLLBACK');
    await until('the old owner’s answer to lie there', async () =>
      (await backends()).find((one) => one.pid === pid && one.state === 'idle'),
    );
    process.kill(owner.pid, 'SIGCONT');
    await until('the old owner to be gone', async () => (await backends()).every((one) => one.pid !== pid));
    expect([await epoch(), await written(client, schema)]).toEqual([after, stored]);
    process.kill(standBy.pid, 'SIGCONT');
  });
  await expectAgreement(stack);
  await until(
    'both nodes to be healthy',
    async () => (await health(owner)) + (await health(standBy)) === 400,
    {
      within: 20_000,
    },
  );
  if ((await role(owner)) !== 'owner') [owner, standBy] = [standBy, owner];
});

it('an owner that hangs inside its transaction gives the set up', async () => {
  await control(owner.controlSocket).fault('before-commit', 'hang');
  await say(standBy, unique('hung'));
  await until(
    'both nodes to be healthy',
    async () => (await health(owner)) + (await health(standBy)) === 400,
    {
      within: 10_000,
    },
  );
  await say(owner, unique('again'));
  await expectAgreement(stack);
});

it('two nodes that write to one session keep one order and lose nothing', async () => {
  const texts = Array.from({ length: 40 }, (_, index) => unique(`both${index % 2}`));
  const path = `/v1/sessions/${forest.children[0] ?? ''}/events`;
  const answers = await Promise.all(
    texts.map((text, index) =>
      api((index % 2 === 0 ? owner : standBy).url).post(path, {
        type: 'external_assistant_message',
        data: { agent: 'coder', text },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
  expect(new Set(answers.map(({ body }) => body['item_id'])).size).toBe(texts.length);
  await expectAgreement(stack);
});
