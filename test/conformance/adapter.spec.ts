import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { jsonEvent } from '@eventstore/db-client';
import { AppendTooLarge, LogUnavailable, StreamTombstoned } from '../../src/event-store/errors.js';
import { EventLog } from '../../src/event-store/event-log.js';
import type { EncodedEvent, RawEvent } from '../../src/event-store/recorded-event.js';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { until } from './recorded-subscription.js';
import { encodedEvents, newStream, rejection, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
let log: EventLog;
beforeAll(async () => {
  store = await startEventStore();
  log = new EventLog(store.url);
});
afterAll(async () => {
  await log.close();
  await store.stop();
});

async function read(stream: string): Promise<RawEvent[]> {
  const events: RawEvent[] = [];
  for await (const event of log.read(stream)) events.push(event);
  return events;
}

describe('the adapter appending', () => {
  it('takes the answer for the revision of the last event, not of the next', async () => {
    const stream = newStream();
    expect(await log.append(stream, encodedEvents(3), 'no-stream')).toMatchObject({ revision: 2n });
    expect(await log.append(stream, encodedEvents(1), 2n)).toMatchObject({
      outcome: 'appended',
      revision: 3n,
    });
  });

  it('answers the position at which a reader finds the event', async () => {
    const stream = newStream();
    const appended = await log.append(stream, encodedEvents(2), 'no-stream');
    expect(appended).toMatchObject({ position: (await read(stream))[1]?.position });
  });

  it('gives a conflict as an answer, and the first answer to a retry', async () => {
    const stream = newStream();
    const events = encodedEvents(2);
    const first = await log.append(stream, events, 'no-stream');
    expect(await log.append(stream, events, 'no-stream')).toEqual(first);
    expect(await log.append(stream, encodedEvents(1), 'no-stream')).toEqual({ outcome: 'conflict' });
    expect((await read(stream)).map((event) => event.revision)).toEqual([0n, 1n]);
  });

  it('refuses a revision below 0 before it can fail the appends beside it', async () => {
    const streams = Array.from({ length: 40 }, () => newStream());
    const good = streams.map((stream) => log.append(stream, encodedEvents(1), 'no-stream'));
    expect(await rejection(log.append(newStream(), encodedEvents(1), -1n))).toBeInstanceOf(RangeError);
    expect((await Promise.all(good)).map(({ outcome }) => outcome)).toEqual(streams.map(() => 'appended'));
  });

  it('says that an append is too large, and goes on', async () => {
    const [event] = encodedEvents(1);
    const large = { ...event, data: { text: 'x'.repeat(1_100_000) } } as EncodedEvent;
    const outcome = await log.append(newStream(), [large], 'no-stream').catch((error: unknown) => error);
    // Servers differ in their limit: 1 MiB, or 16 MiB an event.
    expect(outcome instanceof AppendTooLarge || !(outcome instanceof Error)).toBe(true);
    expect(await log.append(newStream(), encodedEvents(1), 'no-stream')).toMatchObject({
      outcome: 'appended',
    });
  });

  it('says that a stream is tombstoned, when it writes and when it reads', async () => {
    const stream = newStream();
    await store.client.tombstoneStream(stream);
    expect(await rejection(log.append(stream, encodedEvents(1), 'no-stream'))).toBeInstanceOf(
      StreamTombstoned,
    );
    expect(await rejection(read(stream))).toBeInstanceOf(StreamTombstoned);
  });
});

describe('the adapter reading', () => {
  it('finds nothing where there is no stream, which is no error', async () => {
    expect(await read(newStream())).toEqual([]);
  });

  it('gives metadata that is no JSON as bytes', async () => {
    const stream = newStream();
    // The client stringifies a Buffer, but sends a plain Uint8Array as it is.
    const metadata = Uint8Array.from(Buffer.from('{"b":'));
    const odd = { ...jsonEvent({ type: 'Odd', data: {} }), metadata };
    await store.client.appendToStream(stream, odd);
    const [event] = await read(stream);
    expect(event?.metadata).toBeInstanceOf(Uint8Array);
    expect(Buffer.from(event?.metadata as Uint8Array)).toEqual(Buffer.from(metadata));
  });

  it('can be left after the first event, again and again, and the log closes at once', async () => {
    const own = new EventLog(store.url);
    const stream = newStream();
    await own.append(stream, encodedEvents(200), 'no-stream');
    for (let round = 0; round < 20; round += 1) {
      for await (const event of own.read(stream)) {
        expect(event.revision).toBe(0n);
        break;
      }
    }
    const begin = performance.now();
    await own.close();
    // A read that was left open would hold the client until the time limit of `close`, half a second.
    expect(performance.now() - begin).toBeLessThan(450);
  });

  it('of a server that is not there says so: the first call fails with a raw error', async () => {
    const nowhere = new EventLog('esdb://127.0.0.1:1?tls=false');
    expect(await rejection(nowhere.head())).toBeInstanceOf(LogUnavailable);
    await nowhere.close();
  });
});

describe('the adapter following', () => {
  async function follow(prefix: string, from: bigint | null, count: number) {
    const seen: RawEvent[] = [];
    const passed: bigint[] = [];
    let caughtUp = false;
    const feed = log.follow(from, [prefix], {
      event: (raw) => seen.push(raw),
      passed: (position) => passed.push(position),
      caughtUp: () => (caughtUp = true),
    });
    await until('the feed to catch up', () => caughtUp && seen.length >= count);
    return { feed, seen, passed };
  }

  it('goes on behind the position it was given, nothing twice and nothing missing', async () => {
    const prefix = `follow-${randomUUID()}`;
    await log.append(`${prefix}-a`, encodedEvents(5), 'no-stream');
    const whole = await follow(prefix, null, 5);
    const rest = await follow(prefix, whole.seen[2]?.position ?? null, 2);
    expect(rest.seen.map((event) => event.id)).toEqual(whole.seen.slice(3).map((event) => event.id));
    await Promise.all([whole.feed.stop(), rest.feed.stop()]);
    expect(await whole.feed.ended).toBeNull();
  });

  it('is told what it has passed, never ahead of an event to come nor behind one it had', async () => {
    const prefix = `passed-${randomUUID()}`;
    for (let round = 0; round < 6; round += 1) {
      await store.client.appendToStream(newStream(), sampleEvents(400));
      await log.append(`${prefix}-${round}`, encodedEvents(1), 'no-stream');
    }
    const { feed, seen, passed } = await follow(prefix, null, 6);
    await until('a checkpoint', () => passed.length > 0);
    await feed.stop();
    const resumed = await follow(prefix, passed.at(-1) ?? null, 0);
    const behind = seen.filter((event) => event.position > (passed.at(-1) ?? 0n));
    expect(resumed.seen.map((event) => event.id)).toEqual(behind.map((event) => event.id));
    await resumed.feed.stop();
  });

  it('that fails while it is told ends with the failure, not in silence', async () => {
    await store.client.appendToStream(newStream(), sampleEvents(1));
    const feed = log.follow(null, [`none-${randomUUID()}`], {
      event: () => undefined,
      passed: () => {
        throw new Error('no room');
      },
      caughtUp: () => undefined,
    });
    expect(await feed.ended).toMatchObject({ message: 'no room' });
    await feed.stop();
  });
});
