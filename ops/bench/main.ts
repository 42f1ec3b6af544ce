import { EventStoreDBClient } from '@eventstore/db-client';
import { catchUp } from './catch-up.js';
import { liveLag } from './live-lag.js';
import { HttpLoad, load, median } from './load.js';
import { print, type Row, row, save } from './report.js';
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
const STREAM_PREFIX = 'rollcall.';

async function main(): Promise<void> {
  const stack = await BenchStack.start();
  const client = EventStoreDBClient.connectionString`${stack.eventStoreUrl}`;
  try {
    const rows = [
      ...(await lagRows(stack, client)),
      ...(await appendRows(stack, client)),
      ...(await readRows(stack, client)),
    ];
    save('main', print(rows), quick);
  } finally {
    await client.dispose();
    await stack.stop();
  }
}

async function lagRows(stack: BenchStack, client: EventStoreDBClient): Promise<Row[]> {
  const { delivery, visible } = await liveLag(stack, client, LIVE_EVENTS);
  const raw = { what: 'append to delivery, p50', value: delivery.p50 };
  return [
    row(raw.what, raw.value, 'ms'),
    row('append to delivery, p99', delivery.p99, 'ms'),
    row('live lag at 200 events/s, p50', visible.p50, 'ms', raw, { atMost: 3 }),
    row('live lag at 200 events/s, p99', visible.p99, 'ms'),
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
    const limit = { what: `raw appends at ${inFlight}`, value: median(raw) };
    rows.push(
      row(limit.what, limit.value, '/s'),
      row(`posts at ${inFlight}, visible when answered`, median(posted), '/s', limit),
      row(`post to visible at ${inFlight}, p50`, median(visible.p50), 'ms'),
      row(`post to visible at ${inFlight}, p99`, median(visible.p99), 'ms'),
    );
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
  const limit = { what: 'raw read through the client', value: median(raw) };
  return [
    row(limit.what, limit.value, 'events/s'),
    row('projection catch-up', median(projected), 'events/s', limit),
  ];
}

await main();
