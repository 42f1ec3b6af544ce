import { randomUUID } from 'node:crypto';
import type {
  AppendToStreamOptions,
  EventStoreDBClient,
  JSONEventData,
  RecordedEvent,
  ResolvedEvent,
} from '@eventstore/db-client';
import { jsonEvent } from '@eventstore/db-client';
import type { EncodedEvent } from '../../src/event-store/recorded-event.js';

/** A stream name that no other run has used: the server may be shared. */
export function newStream(label = 'conformance'): string {
  return `${label}-${randomUUID()}`;
}

export function sampleEvent(number = 0, type = 'SampleHappened'): JSONEventData {
  return jsonEvent({ id: randomUUID(), type, data: { number }, metadata: { $correlationId: `c${number}` } });
}

export function sampleEvents(count: number, type?: string): JSONEventData[] {
  return Array.from({ length: count }, (_, number) => sampleEvent(number, type));
}

/** Events as the adapter takes them. */
export function encodedEvents(count: number, text = ''): EncodedEvent[] {
  const metadata = {
    schema: 1,
    $correlationId: 'c',
    $causationId: 'c',
    actor: 'system:test',
    occurred_at: '',
  };
  return Array.from({ length: count }, (_, number) => ({
    id: randomUUID(),
    type: 'SampleHappened',
    data: { number, text },
    metadata,
    bytes: 200 + text.length,
  }));
}

export async function newStreamOf(client: EventStoreDBClient, count: number): Promise<string> {
  const stream = newStream();
  await client.appendToStream(stream, sampleEvents(count));
  return stream;
}

/** The client appends over one shared stream of batches, or, with credentials, by a call of its own. */
export const appendPaths: readonly (readonly [name: string, options: AppendToStreamOptions])[] = [
  ['BatchAppend', {}],
  ['Append', { credentials: { username: 'admin', password: 'changeit' } }],
];

export async function collect(read: AsyncIterable<ResolvedEvent>): Promise<ResolvedEvent[]> {
  const events: ResolvedEvent[] = [];
  for await (const event of read) events.push(event);
  return events;
}

/** The event of a resolved event; fails the test when there is only a link. */
export function recorded(resolved: ResolvedEvent | undefined): RecordedEvent {
  if (resolved?.event === undefined) throw new Error('there is no event');
  return resolved.event;
}

export async function recordedIn(read: AsyncIterable<ResolvedEvent>): Promise<RecordedEvent[]> {
  return (await collect(read)).map(recorded);
}

export async function revisionsIn(read: AsyncIterable<ResolvedEvent>): Promise<bigint[]> {
  return (await recordedIn(read)).map((event) => event.revision);
}

/** What a promise was rejected with; fails the test when it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
