import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { EventStoreDBClient } from '@eventstore/db-client';
import { catchUp } from './catch-up.js';
import { liveLag } from './live-lag.js';
import { HttpLoad, load, median } from './load.js';
import { IN_FLIGHT, makeSessions, posts, rawAppends, rawRead } from './rows.js';
import { BenchStack } from './stack.js';

const quick = process.argv.includes('--quick');
const REPEATS = quick ? 1 : 3;
const COUNT: Readonly<Record<number, number>> = {
  1: quick ? 200 : 600,
  16: quick ? 1_500 : 4_000,
  64: quick ? 3_000 : 8_000,
};
/** At 200 a second, of each kind. */
const LIVE_EVENTS = quick ? 400 : 4_000;
/** Events that the catch-up row reads, at least. */
const CATCH_UP_EVENTS = quick ? 10_000 : 60_000;
const RESULTS = 'ops/bench/results';
const STREAM_PREFIX = 'rollcall.';

interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly against?: string;
}

async function main(): Promise<void> {
  const stack = await BenchStack.start();
  const client = EventStoreDBClient.connectionString`${stack.eventStoreUrl}`;
  try {
    const rows = [
      ...(await lagRows(stack, client)),
      ...(await appendRows(stack, client)),
      ...(await readRows(stack, client)),
    ];
    print(rows);
    save(rows);
  } finally {
    await client.dispose();
    await stack.stop();
  }
}

async function lagRows(stack: BenchStack, client: EventStoreDBClient): Promise<Row[]> {
  const { delivery, visible } = await liveLag(stack, client, LIVE_EVENTS);
  const against = 'append to delivery, p50';
  return [
    { what: against, value: delivery.p50, unit: 'ms' },
    { what: 'append to delivery, p99', value: delivery.p99, unit: 'ms' },
    {
      what: 'live lag at 200 events/s, p50',
      value: visible.p50,
      unit: 'ms',
      ratio: visible.p50 / delivery.p50,
      against,
    },
    { what: 'live lag at 200 events/s, p99', value: visible.p99, unit: 'ms' },
  ];
}

/** Raw and posted alternate, so that a change of the machine's mood meets both. */
async function appendRows(stack: BenchStack, client: EventStoreDBClient): Promise<Row[]> {
  const server = await stack.startServer();
  const http = new HttpLoad(server.port);
  const rows: Row[] = [];
  await posts(http, 1_000, 16);
  await rawAppends(client, 1_000, 16);
  for (const inFlight of IN_FLIGHT) {
    const count = COUNT[inFlight] ?? 1_000;
    const raw: number[] = [];
    const posted: number[] = [];
    const visible: { p50: number[]; p99: number[] } = { p50: [], p99: [] };
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      raw.push((await rawAppends(client, count, inFlight)).perSecond);
      const result = await posts(http, count, inFlight);
      posted.push(result.perSecond);
      visible.p50.push(result.p50);
      visible.p99.push(result.p99);
    }
    const against = `raw appends at ${inFlight}`;
    rows.push({ what: against, value: median(raw), unit: '/s' });
    rows.push({
      what: `posts at ${inFlight}, visible when answered`,
      value: median(posted),
      unit: '/s',
      ratio: median(posted) / median(raw),
      against,
    });
    rows.push({ what: `post to visible at ${inFlight}, p50`, value: median(visible.p50), unit: 'ms' });
    rows.push({ what: `post to visible at ${inFlight}, p99`, value: median(visible.p99), unit: 'ms' });
  }
  await fill(http);
  http.close();
  await server.stop();
  return rows;
}

/** Enough events for the catch-up row, spread over many sessions. */
async function fill(http: HttpLoad): Promise<void> {
  const sessions = await makeSessions(http, 200);
  const data = {
    item_type: 'message',
    item_data: {
      role: 'assistant',
      agent: 'bench',
      content: [{ type: 'output_text', text: 'x'.repeat(100) }],
    },
  };
  await load(CATCH_UP_EVENTS, 64, async () => {
    const session = sessions[Math.floor(Math.random() * sessions.length)] ?? '';
    await http.post(
      `/v1/sessions/${session}/events`,
      { type: 'external_conversation_item', data },
      { prefer: 'respond-async' },
    );
  });
}

async function readRows(stack: BenchStack, client: EventStoreDBClient): Promise<Row[]> {
  const raw: number[] = [];
  const projected: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const read = await rawRead(client, STREAM_PREFIX);
    raw.push(read.perSecond);
    projected.push(read.events / (await catchUp(stack)).seconds);
  }
  const against = 'raw read through the client';
  return [
    { what: against, value: median(raw), unit: 'events/s' },
    {
      what: 'projection catch-up',
      value: median(projected),
      unit: 'events/s',
      ratio: median(projected) / median(raw),
      against,
    },
  ];
}

function print(rows: readonly Row[]): void {
  for (const { what, value, unit, ratio, against } of rows) {
    const figure = `${value.toFixed(unit === 'ms' ? 2 : 0)} ${unit}`;
    const compared = ratio === undefined ? '' : `  ${ratio.toFixed(2)} of ${against ?? ''}`;
    process.stdout.write(`${what.padEnd(42)}${figure.padStart(18)}${compared}\n`);
  }
}

function save(rows: readonly Row[]): void {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory: totalmem(),
    node: process.version,
  };
  const file = `${RESULTS}/${new Date().toISOString().replaceAll(':', '-')}.json`;
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ machine, repeats: REPEATS, quick, rows }, null, 2)}\n`);
  process.stdout.write(`written to ${file}\n`);
}

await main();
