import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectionSet } from '../../../projections/projection-set.js';
import { rowsOf, scratchLeft } from '../../../test/support/audit/held-audit.js';
import { mixedPosts, plantForest, postAll } from '../../../test/support/chaos/burst.js';
import { query, setSchema } from '../../../test/support/chaos/read-models.js';
import { ExclusiveStack } from '../../../test/support/exclusive-stack.js';
import type { ServerProcess } from '../../../test/support/process/server-process.js';
import { createEventRegistry } from '../../event-store/catalogue.js';
import { EventLog } from '../../event-store/event-log.js';
import { StreamNames } from '../../event-store/stream-names.js';
import { SET_VERSION } from '../this-set.js';
import { audit, type AuditOptions, type AuditProgress } from './audit.js';
import type { AuditReport } from './report.js';

let stack: ExclusiveStack;
let server: ServerProcess;
let log: EventLog;
let schema: string;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  log = new EventLog(stack.eventStoreUrl);
  schema = await setSchema(stack.databaseUrl);
  await postAll(server.url, mixedPosts(await plantForest(server.url), 120));
});

afterAll(async () => {
  await log.close();
  await stack.dispose();
});

function run(options: Partial<AuditOptions> = {}): Promise<AuditReport> {
  const ports = {
    url: stack.databaseUrl,
    log,
    registry: createEventRegistry(),
    names: new StreamNames('rollcall.'),
    projections: projectionSet,
    setVersion: SET_VERSION,
  };
  const all = { projections: null, session: null };
  return audit(ports, all, {
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...options,
  });
}

describe('an audit that may hold a snapshot for a page alone', () => {
  /** Each page is compared in a snapshot of its own. */
  const brief = { snapshotMs: 0, pageRows: 40 };

  it('looks at every row once, at ever later positions, under load', async () => {
    const targets = new Set<bigint | null>();
    const load = { on: true };
    const forest = await plantForest(server.url);
    const loading = (async () => {
      while (load.on) await postAll(server.url, mixedPosts(forest, 30), { lanes: 3 });
    })();
    const onProgress = ({ target }: AuditProgress): void => void targets.add(target);
    const report = await run({ ...brief, onProgress }).finally(() => (load.on = false));
    await loading;
    expect(report).toMatchObject({ state: 'clean', differences: [] });
    expect(report.rows_checked).toBeGreaterThan(200);
    expect(targets.size).toBeGreaterThan(3);
    expect(await scratchLeft(stack.databaseUrl)).toEqual([]);
  });

  it('finds a difference once, wherever the pages end', async () => {
    const [row] = await rowsOf<{ item_id: string }>(
      stack.databaseUrl,
      `UPDATE ${schema}.session_items SET type = 'planted' WHERE ctid = (SELECT max(ctid) FROM ${schema}.session_items)
       RETURNING item_id`,
    );
    const reports = [await run(brief), await run()];
    for (const { rows_checked, differences } of reports) {
      expect(rows_checked).toBe(reports[0]?.rows_checked);
      expect(differences).toMatchObject([
        { key: { item_id: row?.item_id }, field: 'type', event: { type: 'ItemAppended' } },
      ]);
    }
    await rowsOf(
      stack.databaseUrl,
      `UPDATE ${schema}.session_items SET type = 'message' WHERE type = 'planted'`,
    );
  });
});

it('tables that are swapped for others meanwhile raise no false alarm', async () => {
  const swaps = { on: true, done: 0 };
  const swapping = query(stack.databaseUrl, async (client) => {
    while (swaps.on) {
      await client.query(
        `CREATE TABLE ${schema}.swapped (LIKE ${schema}.agents INCLUDING ALL);
         INSERT INTO ${schema}.swapped SELECT * FROM ${schema}.agents;
         DROP TABLE ${schema}.agents;
         ALTER TABLE ${schema}.swapped RENAME TO agents`,
      );
      swaps.done += 1;
    }
  });
  const report = await run({ snapshotMs: 0, pageRows: 40 }).finally(() => (swaps.on = false));
  await swapping;
  expect(report).toMatchObject({ state: 'clean', differences: [] });
  expect(swaps.done).toBeGreaterThan(5);
});

it('of more differences than a report lists, it lists so many and says that there are more', async () => {
  await rowsOf(
    stack.databaseUrl,
    `INSERT INTO ${schema}.agents SELECT 'invented ' || n, name, owner, harness, sub_agents, spec, created_at, updated_at, position
     FROM (SELECT * FROM ${schema}.agents LIMIT 1) a, generate_series(1, 1001) n`,
  );
  expect(await run()).toMatchObject({ state: 'different', truncated: true, differences: { length: 1_000 } });
  await rowsOf(stack.databaseUrl, `DELETE FROM ${schema}.agents WHERE id = 'invented 1001'`);
  expect(await run()).toMatchObject({ truncated: false, differences: { length: 1_000 } });
  await rowsOf(stack.databaseUrl, `DELETE FROM ${schema}.agents WHERE id LIKE 'invented %'`);
});

it.each(['folding', 'comparing', 'tracing'] as const)(
  'cancelled while it is %s it ends with the reason and leaves nothing',
  async (phase) => {
    await rowsOf(stack.databaseUrl, `UPDATE ${schema}.sessions SET title = 'planted'`);
    const cancelled = new AbortController();
    const reason = new Error('enough');
    const onProgress = (progress: AuditProgress): void => {
      if (progress.phase === phase) cancelled.abort(reason);
    };
    await expect(run({ signal: cancelled.signal, onProgress })).rejects.toBe(reason);
    expect(await scratchLeft(stack.databaseUrl)).toEqual([]);
  },
);
