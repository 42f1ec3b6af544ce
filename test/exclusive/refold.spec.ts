import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { type Roll, type SessionBody, roll } from '../support/roll.js';
import { until } from '../support/until.js';

/** Design 1.1: with the read models lost, the log gives the same answers, byte for byte. */
jest.setTimeout(60_000);

let stack: ExclusiveStack;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
});

afterAll(() => stack.dispose());

const TITLES = [
  'deploy: prod',
  ':leading',
  'trailing:',
  'a:b:c',
  '::',
  'ui:coder:my label',
  'ui:coder',
  'fix:closed:x',
];
const TEXTS = [
  'a'.repeat(149) + '🟡b',
  'lone \ud83d',
  '\udc00\ud83d',
  'a\0b',
  String.raw`a\u0000b`,
  ' line\n\ttwo ',
];

/** A tree with everything in it that a fold could get wrong. */
async function grow(on: Roll): Promise<{ root: SessionBody; all: readonly string[] }> {
  const root = await on.root({ title: 'root', labels: { note: 'x\ud83dy' } });
  const all = [root.id];
  for (const [index, title] of [...TITLES, '', null].entries()) {
    const child = await on.child(root, { title, ...(index % 3 === 0 ? { tool: 'writer' } : {}) });
    all.push(child.id);
    await on.message(child.id, 'assistant', TEXTS[index % TEXTS.length] ?? '');
    await on.ask(child.id, { elicitation_id: 'shared', message: TEXTS[index % TEXTS.length] });
    await on.status(child.id, index % 2 === 0 ? 'running' : 'failed', { output: 'out\0put' });
    if (index % 4 === 0) await on.close(child.id);
    if (index % 4 === 1) await on.rename(child.id, `renamed:${index}`);
    if (index % 4 === 2) await on.resolve(child.id, 'shared', { action: 'accept', content: { q: 1 } });
    const grandchild = await on.child(root, { title: `below:${index}`, agent_id: null });
    all.push(grandchild.id);
    await on.status(grandchild.id, 'waiting', { response_id: 'resp_1', background_task_count: index % 2 });
  }
  return { root, all };
}

async function everything(on: Roll, { root, all }: { root: SessionBody; all: readonly string[] }) {
  const paths = [
    `/v1/sessions?kind=any&limit=1000&agent_id=${root.agent_id ?? ''}`,
    ...all.flatMap((id) =>
      ['', '/child_sessions?limit=1000', '/items'].map((route) => `/v1/sessions/${id}${route}`),
    ),
    ...all.map((id) => `/v1/sessions/${id}/elicitations/shared`),
  ];
  return Promise.all(
    paths.map(async (path) => {
      const { status, text, headers } = await on.api.get(path);
      return { path, status, text, etag: headers.get('etag') };
    }),
  );
}

async function dropReadModels(): Promise<void> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ nspname: string }>(
      `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall_set_%'`,
    );
    expect(rows).toHaveLength(1);
    for (const { nspname } of rows) await client.query(`DROP SCHEMA ${nspname} CASCADE`);
  } finally {
    await client.end();
  }
}

it('F001, F143, F144: titles, previews and texts read the same after the read models were lost', async () => {
  const first = await stack.startServer();
  const tree = await grow(roll(first.url));
  const before = await everything(roll(first.url), tree);
  await first.end('SIGTERM');
  await dropReadModels();
  const second = await stack.startServer();
  const on = roll(second.url);
  await until('the read models to be filled again', async () => (await on.api.get('/health')).status === 200);
  const written = await on.root();
  await on.snapshot(written.id);
  expect(await everything(on, tree)).toEqual(before);
});
