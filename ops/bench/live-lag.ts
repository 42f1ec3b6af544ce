import { randomUUID } from 'node:crypto';
import { END, type EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { Database } from '../../src/database/database.js';
import { EventLog } from '../../src/event-store/event-log.js';
import { StreamNames } from '../../src/event-store/stream-names.js';
import { CheckpointWatch } from '../../src/projection-engine/checkpoint-watch.js';
import { SET_VERSION } from '../../src/projection-engine/this-set.js';
import { appended, encodedItem, plant, spawnOf } from './rebuild/history.js';
import { type Quantiles, quantiles } from './load.js';
import type { BenchStack } from './stack.js';

const EVENTS_PER_SECOND = 200;
const SESSIONS = 50;
const WAIT_MS = 10_000;

export interface LiveLag {
  /** Milliseconds from the call of append to the event's arrival at a subscription of the client. */
  readonly delivery: Quantiles;
  /** Milliseconds from the call of append to the commit of its rows, as another node learns of it. */
  readonly visible: Quantiles;
}

/** A server feeds the read models; the same items are appended at a steady pace, in turn to plain streams and to sessions. */
export async function liveLag(
  stack: BenchStack,
  client: EventStoreDBClient,
  count: number,
): Promise<LiveLag> {
  const server = await stack.startServer();
  const log = new EventLog(stack.eventStoreUrl);
  const database = new Database(stack.databaseUrl);
  const watch = new CheckpointWatch(database, SET_VERSION);
  try {
    await watch.start();
    const sessions = await writersOfSessions(log, watch);
    await paced(count / 4, sessions);
    const plain = await plainWriters(client, log);
    const delivery: number[] = [];
    const visible: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      delivery.push(...(await paced(count / 4, plain.writers)));
      visible.push(...(await paced(count / 4, sessions)));
    }
    await plain.stop();
    return { delivery: quantiles(delivery), visible: quantiles(visible) };
  } finally {
    await watch.stop();
    await database.close();
    await log.close();
    await server.stop();
  }
}

/** Appends one event and waits for what is measured. */
type Writer = () => Promise<void>;

async function writersOfSessions(log: EventLog, watch: CheckpointWatch): Promise<Writer[]> {
  const names = new StreamNames('rollcall.');
  const members = await plant(log, names, SESSIONS);
  return members.map((member) => async () => {
    const stream = names.session(member.spawn.session_id);
    const result = await appended(log, stream, [encodedItem(member.spawn)], member.revision);
    member.revision = result.revision;
    if (!(await watch.waitFor(result.position, WAIT_MS))) throw new Error('an item did not become visible');
  });
}

async function plainWriters(client: EventStoreDBClient, log: EventLog) {
  const prefix = `bench-${randomUUID()}-`;
  const arrivals = new Map<string, () => void>();
  const subscription = client.subscribeToAll({
    fromPosition: END,
    filter: streamNameFilter({ prefixes: [prefix] }),
  });
  subscription.on('data', ({ event }) => arrivals.get(event?.id ?? '')?.());
  await new Promise<void>((settle) => subscription.on('caughtUp', settle));
  const writers = Array.from({ length: SESSIONS }, (_, index): Writer => {
    const spawn = spawnOf(null, index);
    let revision: bigint | null = null;
    return async () => {
      const event = encodedItem(spawn);
      const arrived = new Promise<void>((settle) => arrivals.set(event.id, settle));
      const [result] = await Promise.all([appended(log, `${prefix}${index}`, [event], revision), arrived]);
      revision = result.revision;
      arrivals.delete(event.id);
    };
  });
  return { writers, stop: () => subscription.unsubscribe() };
}

/** Begins so many writes a second, whether or not the ones before have ended; no writer has two at a time. */
async function paced(count: number, writers: readonly Writer[]): Promise<number[]> {
  const begun = performance.now();
  const times: number[] = [];
  const ends = writers.map(() => Promise.resolve());
  for (let number = 0; number < count; number += 1) {
    const due = begun + (number * 1000) / EVENTS_PER_SECOND;
    const early = due - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const place = number % writers.length;
    ends[place] = (ends[place] ?? Promise.resolve()).then(async () => {
      const began = performance.now();
      await writers[place]?.();
      times.push(performance.now() - began);
    });
  }
  await Promise.all(ends);
  return times;
}
