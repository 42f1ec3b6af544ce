import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { EventStoreDBClient as Client, START, eventTypeFilter } from '@eventstore/db-client';
import { EventLog } from '../../../src/event-store/event-log.js';
import { recordReadAll } from './recorded-read.js';
import { type Row, row } from '../report.js';
import { median, milliseconds } from './measure.js';
import { ServerProcess } from './node-process.js';
import { RARE, mixedEvents } from './sample.js';

const REPEATS = 3;
const BATCH = 500;
const HISTORY = 'bench-history-';

interface Decoder {
  readonly decode: (frame: Buffer) => unknown;
}

/** The client's own message decoding and conversion, as its read path calls them. */
function clientDecoder(): Decoder {
  const load = createRequire(import.meta.url);
  const { ReadResp } = load('@eventstore/db-client/generated/streams_pb.js') as {
    ReadResp: { deserializeBinary(bytes: Uint8Array): { getEvent(): unknown } };
  };
  const conversion = load('@eventstore/db-client/dist/utils/convertGrpcEvent.js') as {
    convertGrpcEvent(event: unknown): unknown;
  };
  return { decode: (frame) => conversion.convertGrpcEvent(ReadResp.deserializeBinary(frame).getEvent()) };
}

export async function fill(client: EventStoreDBClient, count: number): Promise<void> {
  for (let written = 0; written < count; written += BATCH) {
    await client.appendToStream(`${HISTORY}${(written / BATCH) % 40}`, mixedEvents(BATCH));
  }
}

async function readWhole(client: EventStoreDBClient): Promise<number> {
  let count = 0;
  for await (const _event of client.readAll()) count += 1;
  return count;
}

async function subscribeWhole(client: EventStoreDBClient, rareOnly: boolean): Promise<number> {
  const filter = eventTypeFilter({ prefixes: [RARE], checkpointInterval: 100 });
  const subscription = client.subscribeToAll(
    rareOnly ? { fromPosition: START, filter } : { fromPosition: START },
  );
  let count = 0;
  subscription.on('data', () => {
    count += 1;
  });
  await new Promise<void>((settle) => subscription.on('caughtUp', settle));
  await subscription.unsubscribe();
  return count;
}

/** As the projections follow the log. */
async function followWhole(log: EventLog): Promise<number> {
  let count = 0;
  await new Promise<void>((settle, reject) => {
    const handlers = { event: () => void (count += 1), passed: () => undefined, caughtUp: settle };
    const feed = log.follow(null, [HISTORY], handlers);
    void feed.ended.then(reject);
  });
  return count;
}

/** Reads of a log of `count` events, beside the same bytes decoded from memory and sent from memory. */
export async function readRows(node: ServerProcess, client: EventStoreDBClient, dir: string): Promise<Row[]> {
  const frames = await recordReadAll(node.port);
  const file = join(dir, 'recorded-read.bin');
  writeFileSync(file, Buffer.concat(frames.map((frame) => frame.whole)));
  const memory = await ServerProcess.startMemoryServer(file);
  const replaying = Client.connectionString(memory.url);
  const log = new EventLog(node.url);
  const { decode } = clientDecoder();
  const rates: Record<string, number[]> = {
    decoded: [],
    replayed: [],
    read: [],
    subscribed: [],
    filtered: [],
    followed: [],
    clientCpu: [],
    nodeCpu: [],
  };
  const time = async (name: string, work: () => Promise<number>): Promise<void> => {
    let count = 0;
    const took = await milliseconds(async () => {
      count = await work();
    });
    rates[name]?.push((count / took) * 1000);
  };
  await readWhole(client);
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    await time('decoded', async () => {
      for (const frame of frames) decode(frame.message);
      return frames.length;
    });
    await time('replayed', () => readWhole(replaying));
    const before = { node: node.processorTime(), client: process.cpuUsage() };
    await time('read', () => readWhole(client));
    const { user, system } = process.cpuUsage(before.client);
    rates['clientCpu']?.push((user + system) / frames.length);
    rates['nodeCpu']?.push(((node.processorTime() - before.node) * 1000) / frames.length);
    await time('subscribed', () => subscribeWhole(client, false));
    await time('filtered', () => subscribeWhole(client, true));
    await time('followed', () => followWhole(log));
  }
  await replaying.dispose();
  await log.close();
  await memory.stop();
  const of = (name: string): number => median(rates[name] ?? []);
  const decoded = { what: 'decoding the same bytes from memory, no connection', value: of('decoded') };
  const replayed = { what: 'the same bytes from a bare http2 server', value: of('replayed') };
  return [
    row('decoding from memory', decoded.value, 'events/s'),
    row('reading from a bare http2 server', replayed.value, 'events/s', decoded),
    row('readAll', of('read'), 'events/s', replayed),
    row('readAll', of('read'), 'events/s', decoded),
    row('readAll: processor time of the client', of('clientCpu'), 'us/event'),
    row('readAll: processor time of the node', of('nodeCpu'), 'us/event'),
    row('subscribeToAll', of('subscribed'), 'events/s', replayed, { atLeast: 0.8 }),
    row('followed through our own decoder', of('followed'), 'events/s', decoded, { atLeast: 0.8 }),
    row('filtered subscription, one in ten matches: scanned', of('filtered') * 10, 'events/s', {
      what: 'subscribeToAll',
      value: of('subscribed'),
    }),
  ];
}
