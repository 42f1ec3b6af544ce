import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient } from '@eventstore/db-client';
import pg from 'pg';
import { EventLog } from '../../../src/event-store/event-log.js';
import { StreamNames } from '../../../src/event-store/stream-names.js';
import { SET_SCHEMA } from '../../../src/projection-engine/this-set.js';
import { median } from '../event-store/measure.js';
import { print, type Row, row, save } from '../report.js';
import { rawRead } from '../rows.js';
import { BenchStack } from '../stack.js';
import { writeHistory } from './history.js';

/** `--quick` is a smoke run; its figures say little. */
const quick = process.argv.includes('--quick');
const SMALL = quick ? 10_000 : 100_000;
const LARGE = quick ? 40_000 : 1_000_000;
const EVENTS_OF_A_SESSION = 50;
const REPEATS = 2;
const PREFIX = 'rollcall.';
const COMMAND_LINE = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
/** As `npm run rollcall` starts it. */
const NODE_FLAGS = ['--enable-source-maps', '--max-semi-space-size=16', '--heap-growing-percent=60'];

interface Rebuilt {
  readonly seconds: number;
  /** Highest resident memory of the rebuilding process, in MiB. */
  readonly memory: number;
}

async function main(): Promise<void> {
  const small = await measured(SMALL);
  const large = await measured(LARGE);
  const per = (events: number, seconds: number): number => (1e6 * seconds) / events;
  const rows = [
    ...small.rows,
    ...large.rows,
    row(
      'time of an event, large log',
      per(LARGE, large.seconds),
      'µs',
      { what: 'in the small log', value: per(SMALL, small.seconds) },
      { atMost: 1.25 },
    ),
  ];
  save('rebuild', print(rows), quick);
}

/** A log of that many events, read raw and rebuilt from in turn. */
async function measured(events: number): Promise<{ rows: Row[]; seconds: number }> {
  const stack = await BenchStack.start();
  const client = EventStoreDBClient.connectionString(stack.eventStoreUrl);
  const log = new EventLog(stack.eventStoreUrl);
  try {
    const sessions = Math.ceil(events / EVENTS_OF_A_SESSION);
    await writeHistory(log, new StreamNames(PREFIX), { events, sessions });
    const raw: number[] = [];
    const rebuilds: Rebuilt[] = [];
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      raw.push((await rawRead(client, PREFIX)).perSecond);
      rebuilds.push(await rebuilt(stack));
    }
    const seconds = median(rebuilds.map((one) => one.seconds));
    const what = `of ${events} events and ${sessions} sessions`;
    const limit = { what: 'raw filtered subscription', value: median(raw) };
    return {
      rows: [
        row(`rebuild ${what}`, events / seconds, 'events/s', limit, { atLeast: 0.8 }),
        row(`memory of it`, Math.max(...rebuilds.map(({ memory }) => memory)), 'MiB', undefined, {
          atMost: 400,
        }),
      ],
      seconds,
    };
  } finally {
    await log.close();
    await client.dispose();
    await stack.stop();
  }
}

/** `rollcall rebuild --all` on a database without read models: from its start to its end. */
async function rebuilt(stack: BenchStack): Promise<Rebuilt> {
  await dropReadModels(stack.databaseUrl);
  const env = { ...process.env, EVENTSTORE_URL: stack.eventStoreUrl, DATABASE_URL: stack.databaseUrl };
  const begun = performance.now();
  const child = spawn(process.execPath, [...NODE_FLAGS, COMMAND_LINE, 'rebuild', '--all'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let memory = 0;
  const looks = setInterval(() => (memory = peakMemory(child.pid) ?? memory), 200);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearInterval(looks);
  if (code !== 0) throw new Error(`the rebuild ended with ${String(code)}`);
  return { seconds: (performance.now() - begun) / 1000, memory };
}

async function dropReadModels(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${SET_SCHEMA} CASCADE`);
  await client.end();
}

/** In MiB; undefined when the process is gone, or where the system does not say. */
function peakMemory(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}

await main();
