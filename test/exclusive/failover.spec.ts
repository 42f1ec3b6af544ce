import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { expectAgreement } from '../support/chaos/agreement.js';
import { plantForest, type Forest } from '../support/chaos/burst.js';
import { epoch as ownerEpoch } from '../support/chaos/ownership.js';
import { query, setSchema } from '../support/chaos/read-models.js';
import { say as sayAt } from '../support/chaos/say.js';
import { control } from '../support/control.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api } from '../support/http.js';
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

afterAll(() => stack.dispose());

const epoch = (): Promise<number> => ownerEpoch(stack.databaseUrl);
const say = (node: ServerProcess, text: string): Promise<void> => sayAt(node, forest, text);

const health = (node: ServerProcess): Promise<number> =>
  api(node.url)
    .get('/health')
    .then(({ status }) => status);

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

it('an owner that was stopped inside its transaction writes nothing when it wakes', async () => {
  const before = await epoch();
  const schema = await setSchema(stack.databaseUrl);
  const text = unique('frozen');
  const saying = await query(stack.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM ${schema}.checkpoint FOR UPDATE`);
    const spoken = say(standBy, text);
    await until('the owner to wait inside its transaction', async () => {
      const { rows } = await client.query(
        `SELECT 1 FROM pg_stat_activity WHERE application_name = 'rollcall-engine' AND wait_event_type = 'Lock'`,
      );
      return rows.length === 1;
    });
    process.kill(owner.pid, 'SIGSTOP');
    await client.query('COMMIT');
    return { spoken };
  });
  await until('the other node to take over', async () => (await epoch()) > before, {
    within: TAKEOVER_MS + 2_000,
  });
  await saying.spoken;
  const after = await epoch();
  process.kill(owner.pid, 'SIGCONT');
  await say(standBy, unique('woken'));
  await until('the old owner to stand by', async () => (await health(owner)) === 200, { within: 10_000 });
  await say(owner, unique('standing by'));
  expect(await epoch()).toBe(after);
  await expectAgreement(stack);
  [owner, standBy] = [standBy, owner];
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
