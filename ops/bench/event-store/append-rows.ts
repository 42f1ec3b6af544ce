import { randomUUID } from 'node:crypto';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { END } from '@eventstore/db-client';
import { rawCommits, rawEchoes } from './limits.js';
import { type Row, row } from '../report.js';
import { load, median, percentile } from './measure.js';
import { sampleEvent } from './sample.js';

const WRITERS = 50;

export interface AppendBench {
  readonly client: EventStoreDBClient;
  readonly echoPort: number;
  readonly dir: string;
  readonly scale: number;
}

function appender(client: EventStoreDBClient): () => Promise<unknown> {
  const streams = Array.from({ length: WRITERS }, () => `bench-${randomUUID()}`);
  let number = 0;
  return () => {
    number += 1;
    return client.appendToStream(streams[number % WRITERS] ?? '', sampleEvent(number));
  };
}

export async function appendRows({ client, echoPort, dir, scale }: AppendBench): Promise<Row[]> {
  const append = appender(client);
  await load(1_000 * scale, WRITERS, append);
  const sequential = await load(1_000 * scale, 1, append);
  const commits = await rawCommits(dir, 2_000 * scale);
  const lone = await rawEchoes(echoPort, 1_000 * scale, 1);
  const busy: number[] = [];
  const echoes: number[] = [];
  const times: number[] = [];
  for (let repeat = 0; repeat < 3; repeat += 1) {
    const run = await load(6_000 * scale, WRITERS, append);
    busy.push(run.perSecond);
    times.push(...run.times);
    echoes.push((await rawEchoes(echoPort, 6_000 * scale, WRITERS)).perSecond);
  }
  const slower =
    commits.perSecond < median(echoes)
      ? { what: 'raw commits of the storage engine, one event each', value: commits.perSecond }
      : { what: 'bare http2 echo of the same bytes', value: median(echoes) };
  const p50 = median(commits.times) + median(lone.times);
  return [
    row('append, one writer, p50', median(sequential.times), 'ms', {
      what: 'raw commit + bare echo',
      value: p50,
    }),
    row('append, one writer, p99', percentile(sequential.times, 0.99), 'ms'),
    row('raw commit of the storage engine, p50', median(commits.times), 'ms'),
    row('raw commits of the storage engine', commits.perSecond, '1/s'),
    row('bare http2 echo, 50 in flight', median(echoes), '1/s'),
    row(`appends, ${WRITERS} writers`, median(busy), '1/s', slower, { atLeast: 0.5 }),
    row(`append, ${WRITERS} writers, p50`, median(times), 'ms'),
    row(`append, ${WRITERS} writers, p99`, percentile(times, 0.99), 'ms'),
  ];
}

/** From the call of append to the event's arrival at a live subscription. */
export async function deliveryRows(client: EventStoreDBClient, scale: number): Promise<Row[]> {
  const subscription = client.subscribeToAll({ fromPosition: END });
  const arrivals = new Map<string, () => void>();
  subscription.on('data', ({ event }) => arrivals.get(event?.id ?? '')?.());
  await new Promise<void>((settle) => subscription.on('caughtUp', settle));
  const stream = `bench-delivery-${randomUUID()}`;
  const { times } = await load(1_000 * scale, 1, async () => {
    const event = sampleEvent(0);
    const arrived = new Promise<void>((settle) => arrivals.set(event.id, settle));
    await Promise.all([client.appendToStream(stream, event), arrived]);
    arrivals.delete(event.id);
  });
  await subscription.unsubscribe();
  return [
    row('append to delivery, p50', median(times), 'ms'),
    row('append to delivery, p99', percentile(times, 0.99), 'ms'),
  ];
}
