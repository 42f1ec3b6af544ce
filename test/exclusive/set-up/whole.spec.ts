import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { NO_STREAM } from '@eventstore/db-client';
import { Client } from 'pg';
import { rawEventStore } from '../../support/event-store.js';
import { api } from '../../support/http.js';
import { launchScript, runProcess } from '../../support/process/started-process.js';
import { type WholeProcess, processesOn, startWhole } from '../../support/process/whole-process.js';
import { tempDirectory } from '../../support/run/run-directory.js';
import { until } from '../../support/until.js';

/** Everything embedded, as `npm start` runs it: one data directory, three processes. */
let dataDir: string;
const started: WholeProcess[] = [];

beforeEach(() => {
  dataDir = tempDirectory('whole');
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((whole) => whole.end('SIGTERM')));
  const left = processesOn(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
  expect(left).toEqual([]);
});

async function start(): Promise<WholeProcess> {
  const whole = await startWhole(dataDir);
  started.push(whole);
  return whole;
}

async function query(whole: WholeProcess, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: whole.databaseUrl() });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function append(whole: WholeProcess): Promise<void> {
  const log = rawEventStore(whole.eventStoreUrl());
  await log.append('set-up-kept', [{ type: 'Kept', data: {} }], NO_STREAM).finally(() => log.dispose());
}

async function kept(whole: WholeProcess): Promise<number> {
  const log = rawEventStore(whole.eventStoreUrl());
  return (await log.read('set-up-kept').finally(() => log.dispose())).length;
}

/** Leaves something in both stores. */
async function remember(whole: WholeProcess): Promise<void> {
  await query(whole, 'CREATE TABLE set_up_kept (n int)');
  await append(whole);
}

async function expectRemembered(whole: WholeProcess): Promise<void> {
  expect(await query(whole, 'SELECT n FROM set_up_kept')).toEqual([]);
  expect(await kept(whole)).toBe(1);
  const health = await until('health', async () => {
    const { status } = await api(whole.url).get('/health');
    return status === 200 ? status : undefined;
  });
  expect(health).toBe(200);
}

describe('one data directory', () => {
  it('serves one instance; a second one says so and leaves the first alone', async () => {
    const first = await start();
    const second = await runProcess('src/main.js', {
      name: 'second',
      env: { ROLLCALL_DATA_DIR: dataDir, PORT: '0' },
    });
    expect(second.code).toBe(1);
    expect(second.output).toMatch(
      new RegExp(`^rollcall: ${dataDir} is in use by another Rollcall \\(pid ${first.pid}\\);[^\\n]+\\n$`),
    );
    expect((await api(first.url).get('/health')).status).toBe(200);
  });

  it('serves one of two that start at the same moment', async () => {
    const outcomes = await Promise.allSettled([start(), start(), start()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refusals = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [String(outcome.reason)] : [],
    );
    expect(refusals).toEqual([
      expect.stringContaining('is in use by'),
      expect.stringContaining('is in use by'),
    ]);
  });
});

describe('stopping', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'on %s ends everything within 10 s, and the data is there afterwards',
    async (signal) => {
      const whole = await start();
      await remember(whole);
      const since = performance.now();
      whole.child.kill(signal);
      whole.child.kill(signal); // a second one does no harm
      expect(await whole.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - since).toBeLessThan(10_000);
      expect(processesOn(dataDir)).toEqual([]);
      await expectRemembered(await start());
    },
  );

  it('while it is still starting leaves nothing behind', async () => {
    const env = { ROLLCALL_DATA_DIR: dataDir, PORT: '0' };
    const early = launchScript('src/main.js', { name: 'early', env });
    await until('the database to be made', () => processesOn(`${dataDir}/postgres`).length > 0);
    expect(await early.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(early.output()).not.toContain('listens');
    expect(processesOn(dataDir)).toEqual([]);
  });

  it('because the port is taken leaves nothing behind, and says it in one line', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { code, output } = await runProcess('src/main.js', {
      name: 'port-taken',
      env: { ROLLCALL_DATA_DIR: dataDir, PORT: String(port) },
    });
    taken.close();
    expect(code).toBe(1);
    expect(output).toBe(`rollcall: PORT must be a free port (or 0 for any), ${port} is taken on 127.0.0.1\n`);
    expect(processesOn(dataDir)).toEqual([]);
  });
});

describe('kill -9', () => {
  it('of the server: the next start stops what it left and has all data', async () => {
    const first = await start();
    await remember(first);
    const [postgres, node] = [first.postgresPid(), first.eventStorePid()];
    await first.end('SIGKILL');
    expect(processesOn(dataDir)).toEqual(expect.arrayContaining([postgres, node]));
    const second = await start();
    expect(processesOn(dataDir)).not.toEqual(expect.arrayContaining([postgres]));
    expect(processesOn(dataDir)).not.toEqual(expect.arrayContaining([node]));
    await expectRemembered(second);
  });

  it.each([
    ['Postgres', (whole: WholeProcess) => whole.postgresPid()],
    ['the event store node', (whole: WholeProcess) => whole.eventStorePid()],
  ])('of %s: it is started again and has all data', async (_part, pidOf) => {
    const whole = await start();
    await remember(whole);
    const victim = pidOf(whole);
    process.kill(victim, 'SIGKILL');
    await until(
      'another process in its place',
      async () => {
        await query(whole, 'SELECT 1');
        return pidOf(whole) !== victim && (await kept(whole)) === 1;
      },
      { within: 20_000, every: 50 },
    );
    await expectRemembered(whole);
  });

  it('of all three at once: the next start has all data', async () => {
    const first = await start();
    await remember(first);
    for (const pid of [first.pid, first.postgresPid(), first.eventStorePid()]) process.kill(pid, 'SIGKILL');
    await first.exited;
    await expectRemembered(await start());
  });
});
