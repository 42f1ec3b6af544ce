import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { query } from '../support/chaos/read-models.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { roll } from '../support/roll.js';
import { unique } from '../support/unique.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

/** Of two nodes' own limits for a wait, well below. */
const SHOWN_MS = 1_500;

let stack: ExclusiveStack;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
});

afterAll(() => stack.dispose());

const listening = (): Promise<number[]> =>
  query(stack.databaseUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'rollcall-watch'`,
    );
    return rows.map(({ pid }) => pid);
  });

it('F121: what is posted at one node while another has lost its LISTEN is read there, all of it, in order, once', async () => {
  const a = roll((await stack.startServer()).url);
  const before = await listening();
  const b = roll((await stack.startServer()).url);
  const session = await a.root();
  const ofB = (await listening()).filter((pid) => !before.includes(pid));
  expect(ofB).toHaveLength(1);

  await query(stack.databaseUrl, (client) => client.query('SELECT pg_terminate_backend($1)', ofB));
  const texts = Array.from({ length: 5 }, () => unique('while-deaf'));
  let position = '';
  for (const text of texts) {
    const answer = await a.event(session.id, 'external_assistant_message', { agent: 'coder', text });
    expect(answer.status).toBe(202);
    position = answer.headers.get('rollcall-position') ?? '';
  }
  const asked = performance.now();
  const headers = { 'rollcall-min-position': position };
  const read = await b.api.get<{ data: object[] }>(`/v1/sessions/${session.id}/items`, { headers });
  expect(performance.now() - asked).toBeLessThan(SHOWN_MS);
  const shown = read.body.data.map((item) => texts.find((text) => JSON.stringify(item).includes(text)));
  expect([read.status, shown]).toEqual([200, texts]);

  await until('the other node to listen again', async () => {
    const now = await listening();
    return now.length === before.length + 1 && !now.some((pid) => ofB.includes(pid));
  });
});
