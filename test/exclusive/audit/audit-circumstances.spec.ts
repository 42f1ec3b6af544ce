import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { rowsOf, scratchLeft } from '../../support/audit/held-audit.js';
import { auditOf, rollcallAudit } from '../../support/audit/rollcall-audit.js';
import { type Forest, mixedPosts, plantForest, postAll } from '../../support/chaos/burst.js';
import { query, setSchema } from '../../support/chaos/read-models.js';
import { rawEventStore } from '../../support/event-store.js';
import { ExclusiveStack } from '../../support/exclusive-stack.js';
import { api } from '../../support/http.js';
import type { ServerProcess } from '../../support/process/server-process.js';
import { unique } from '../../support/unique.js';
import { until } from '../../support/until.js';

jest.setTimeout(240_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let forest: Forest;
let schema: string;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
});

afterAll(() => stack.dispose());

const sql = (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  rowsOf(stack.databaseUrl, text, values);

async function say(session: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, headers: answer } = await api(server.url).post(
    `/v1/sessions/${session}/events`,
    { type: 'external_assistant_message', data: { agent: 'coder', text: unique('said') } },
    { headers },
  );
  expect(status).toBe(202);
  return answer.get('rollcall-position') ?? '';
}

/** Says that it could not run, and why, and leaves nothing behind. */
async function expectRefused(why: RegExp): Promise<void> {
  const { code, output } = await rollcallAudit(stack);
  expect([code, output]).toEqual([2, expect.stringMatching(why)]);
  expect(await scratchLeft(stack.databaseUrl)).toEqual([]);
}

it('without read models it says that there are none, and makes none', async () => {
  await expectRefused(/there are no read models of this build yet: start the server once/);
  expect(await sql(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall\\_set\\_%'`)).toEqual([]);
  const log = rawEventStore(stack.eventStoreUrl);
  expect(await log.read('rollcall.log')).toEqual([]);
  await log.dispose();
});

it('a log without any session is clean', async () => {
  server = await stack.startServer();
  schema = await setSchema(stack.databaseUrl);
  expect(await auditOf(stack)).toMatchObject({ state: 'clean', rows_checked: 0, differences: [] });
  forest = await plantForest(server.url, 1, 3);
});

it('read models that have applied nothing yet are clean, whatever the log holds', async () => {
  const live = await sql(`SELECT position FROM ${schema}.checkpoint`);
  const tables = await sql(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 AND table_name <> 'checkpoint'`,
    [schema],
  );
  // Beside the real ones, so that the running engine loses nothing.
  await query(stack.databaseUrl, async (client) => {
    await client.query(`ALTER SCHEMA ${schema} RENAME TO aside`);
    await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(
      `CREATE TABLE ${schema}.checkpoint AS SELECT log_id, -1::bigint AS position FROM aside.checkpoint`,
    );
    for (const { name } of tables)
      await client.query(`CREATE TABLE ${schema}.${String(name)} (LIKE aside.${String(name)})`);
    try {
      expect(await auditOf(stack)).toMatchObject({ state: 'clean', position: null, rows_checked: 0 });
    } finally {
      await client.query(`DROP SCHEMA ${schema} CASCADE`);
      await client.query(`ALTER SCHEMA aside RENAME TO ${schema}`);
    }
  });
  expect(await sql(`SELECT position FROM ${schema}.checkpoint`)).toEqual(live);
});

describe('read models of another log', () => {
  it('are refused by the names of both', async () => {
    const [own] = await sql(`SELECT log_id FROM ${schema}.checkpoint`);
    await sql(`UPDATE ${schema}.checkpoint SET log_id = 'elsewhere'`);
    try {
      await expectRefused(new RegExp(`belong to log elsewhere, this is log ${String(own?.['log_id'])}`));
    } finally {
      await sql(`UPDATE ${schema}.checkpoint SET log_id = $1`, [own?.['log_id']]);
    }
  });

  it('that was longer are refused too', async () => {
    const [own] = await sql(`SELECT position FROM ${schema}.checkpoint`);
    await sql(`UPDATE ${schema}.checkpoint SET position = 999999999999`);
    try {
      await expectRefused(/stand at 999999999999, beyond the log's head \d+/);
    } finally {
      await sql(`UPDATE ${schema}.checkpoint SET position = $1`, [own?.['position']]);
    }
  });
});

describe('a parked stream', () => {
  let session: string;

  beforeAll(async () => {
    session = forest.children[0] ?? '';
    const stream = `rollcall.session-${session}`;
    const log = rawEventStore(stack.eventStoreUrl);
    const events = await log.read(stream);
    const metadata = events[0]?.metadata ?? {};
    await log.append(
      stream,
      [
        { type: 'SessionTeleported', data: {}, metadata },
        { type: 'SessionLabelled', data: { labels: { a: 'b' } }, metadata },
      ],
      BigInt(events.length - 1),
    );
    await log.dispose();
    await until(
      'it to be parked',
      async () => (await sql('SELECT 1 FROM rollcall.parked_streams')).length > 0,
    );
    await say(forest.children[1] ?? '');
  });

  it('is compared as far as it was applied, and listed apart', async () => {
    const report = await auditOf(stack);
    expect(report).toMatchObject({
      state: 'clean',
      differences: [],
      parked: [
        {
          stream: `rollcall.session-${session}`,
          event_type: 'SessionTeleported',
          reason: expect.stringContaining('unknown'),
          by: 'live',
        },
      ],
    });
    const { code, output } = await rollcallAudit(stack);
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/parked {2}rollcall\.session-.*is in no read model[^]*Clean: .*1 parked stream/),
    ]);
  });

  it('whose rows are wrong in what was applied is different', async () => {
    await sql(`UPDATE ${schema}.sessions SET status = 'failed' WHERE id = $1`, [session]);
    expect((await auditOf(stack)).differences).toMatchObject([
      { key: { id: session }, field: 'status', expected: 'none', event: { type: 'SessionSpawned' } },
    ]);
    await sql(`UPDATE ${schema}.sessions SET status = 'none' WHERE id = $1`, [session]);
  });

  it('that the read models do not know as parked is told as such', async () => {
    const parked = await sql('DELETE FROM rollcall.parked_streams RETURNING *');
    const report = await auditOf(stack);
    expect(report).toMatchObject({
      state: 'different',
      differences: [],
      parked: [{ stream: `rollcall.session-${session}`, event_type: 'SessionTeleported', by: 'audit' }],
    });
    const { code, output } = await rollcallAudit(stack);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`cannot be folded  rollcall.session-${session}`),
    ]);
    await sql(
      `INSERT INTO rollcall.parked_streams SELECT * FROM json_populate_recordset(null::rollcall.parked_streams, $1)`,
      [JSON.stringify(parked)],
    );
  });
});

it('while the read models stand still it compares what they hold', async () => {
  await query(stack.databaseUrl, async (client) => {
    await client.query('BEGIN');
    const held = await client.query<{ position: string }>(
      `SELECT position FROM ${schema}.checkpoint FOR UPDATE`,
    );
    const later = await say(forest.children[2] ?? '', { prefer: 'respond-async' });
    const report = await auditOf(stack);
    expect(report).toMatchObject({ state: 'clean', position: held.rows[0]?.position });
    expect(BigInt(later)).toBeGreaterThan(BigInt(report.position ?? 0));
    await client.query('ROLLBACK');
  });
});

it('while owners of the set are killed and followed by others, under load, it raises no false alarm', async () => {
  const nodes = [server, await stack.startServer(), await stack.startServer()];
  const load = { on: true };
  const loading = Promise.all(
    nodes.map(async (node) => {
      while (load.on) {
        const fates = await postAll(node.url, mixedPosts(forest, 60), { lanes: 4 });
        if ([...fates.values()].every((fate) => fate === 'unanswered')) return;
      }
    }),
  );
  try {
    for (const node of nodes.slice(0, 2)) {
      const audit = auditOf(stack);
      await until('the audit to fold', async () => (await scratchLeft(stack.databaseUrl)).length > 0, {
        within: 30_000,
      });
      await node.end('SIGKILL');
      expect(await audit).toMatchObject({ state: 'clean', differences: [] });
    }
  } finally {
    load.on = false;
    await loading;
  }
});
