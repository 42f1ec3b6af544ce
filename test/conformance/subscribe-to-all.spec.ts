import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SubscribeToAllOptions } from '@eventstore/db-client';
import { BACKWARDS, END, START } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { RecordedSubscription, until } from './recorded-subscription.js';
import { newStream, recordedIn, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
const open: RecordedSubscription[] = [];

function subscribe(options: SubscribeToAllOptions): RecordedSubscription {
  const subscription = new RecordedSubscription(store.client.subscribeToAll(options));
  open.push(subscription);
  return subscription;
}

beforeAll(async () => {
  store = await startEventStore();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((subscription) => subscription.stop()));
});
afterAll(() => store.stop());

async function head() {
  const [last] = await recordedIn(
    store.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
  );
  if (last?.position === undefined) throw new Error('the log is empty');
  return last.position;
}

describe('a subscription to the whole log', () => {
  it('is confirmed, gives what is there, and then says that it has caught up', async () => {
    const all = (await recordedIn(store.client.readAll())).map((event) => event.id);
    const subscription = await subscribe({ fromPosition: START }).caughtUp();
    expect(subscription.deliveries[0]?.kind).toBe('confirmed');
    expect(subscription.events.slice(0, all.length).map((event) => event.id)).toEqual(all);
  });

  it('gives what comes after it has caught up', async () => {
    const stream = newStream();
    const subscription = await subscribe({ fromPosition: START }).caughtUp();
    await store.client.appendToStream(stream, sampleEvents(3));
    await until('three events', () => subscription.eventsIn(stream).length === 3);
    expect(subscription.eventsIn(stream).map((event) => event.revision)).toEqual([0n, 1n, 2n]);
  });

  it('from a position begins behind it', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(3));
    const [first] = await recordedIn(store.client.readStream(stream));
    if (first?.position === undefined) throw new Error('no position');
    const subscription = await subscribe({ fromPosition: first.position }).caughtUp();
    expect(subscription.eventsIn(stream).map((event) => event.revision)).toEqual([1n, 2n]);
  });

  it('from the position of the last event gives later events only', async () => {
    const begin = await head();
    const subscription = await subscribe({ fromPosition: begin }).caughtUp();
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(1));
    await until('one event', () => subscription.eventsIn(stream).length === 1);
    const earlier = subscription.events.filter((event) => (event.position?.commit ?? 0n) <= begin.commit);
    expect(earlier).toEqual([]);
  });

  it('from the end gives later events only', async () => {
    const [before, after] = [newStream(), newStream()];
    await store.client.appendToStream(before, sampleEvents(2));
    const subscription = await subscribe({ fromPosition: END }).caughtUp();
    await store.client.appendToStream(after, sampleEvents(2));
    await until('two events', () => subscription.eventsIn(after).length === 2);
    expect(subscription.eventsIn(before)).toEqual([]);
  });

  it('gives metadata events and tombstones', async () => {
    const stream = newStream();
    const subscription = await subscribe({ fromPosition: END }).caughtUp();
    await store.client.setStreamMetadata(stream, { maxCount: 3 });
    await store.client.tombstoneStream(stream);
    await until('the tombstone', () => subscription.eventsIn(stream).length === 1);
    expect(subscription.eventsIn(`$$${stream}`).map((event) => event.type)).toEqual(['$metadata']);
    expect(subscription.eventsIn(stream).map((event) => event.type)).toEqual(['$streamDeleted']);
  });

  it('gives strictly rising positions', async () => {
    const subscription = await subscribe({ fromPosition: START }).caughtUp();
    const positions = subscription.events.map((event) => event.position?.commit ?? 0n);
    expect(positions.every((position, index) => position > (positions[index - 1] ?? -1n))).toBe(true);
  });

  it('loses and doubles nothing between history and live events while writers go on', async () => {
    const streams = Array.from({ length: 6 }, () => newStream('busy'));
    const writing = Promise.all(
      streams.map(async (stream) => {
        for (let round = 0; round < 40; round += 1)
          await store.client.appendToStream(stream, sampleEvents(3));
      }),
    );
    const subscription = subscribe({ fromPosition: START });
    await writing;
    for (const stream of streams) {
      await until('all events', () => subscription.eventsIn(stream).length >= 120);
      expect(subscription.eventsIn(stream).map((event) => event.revision)).toEqual(
        Array.from({ length: 120 }, (_, revision) => BigInt(revision)),
      );
    }
  });

  it('resumed from the last event seen goes on exactly there', async () => {
    const stream = newStream();
    const first = await subscribe({ fromPosition: END }).caughtUp();
    await store.client.appendToStream(stream, sampleEvents(4));
    await until('four events', () => first.eventsIn(stream).length === 4);
    await first.stop();
    const second = first.eventsIn(stream)[1]?.position;
    if (second === undefined) throw new Error('no position');
    const resumed = await subscribe({ fromPosition: second }).caughtUp();
    expect(resumed.eventsIn(stream).map((event) => event.revision)).toEqual([2n, 3n]);
  });

  it('does not slow another one down by not being read', async () => {
    const stream = newStream();
    const paused = store.client.subscribeToAll({ fromPosition: START });
    paused.on('error', () => undefined);
    paused.pause();
    const reading = await subscribe({ fromPosition: END }).caughtUp();
    for (let round = 0; round < 10; round += 1) await store.client.appendToStream(stream, sampleEvents(100));
    await until('all events', () => reading.eventsIn(stream).length === 1_000);
    await paused.unsubscribe();
    paused.destroy();
  });

  it('that was not read for a while gets everything once it is', async () => {
    const stream = newStream();
    const from = await head();
    const raw = store.client.subscribeToAll({ fromPosition: from });
    const slow = new RecordedSubscription(raw);
    open.push(slow);
    raw.pause();
    for (let round = 0; round < 20; round += 1) await store.client.appendToStream(stream, sampleEvents(100));
    raw.resume();
    await until('all events', () => slow.eventsIn(stream).length === 2_000);
    expect(slow.eventsIn(stream).map((event) => event.revision)).toEqual(
      Array.from({ length: 2_000 }, (_, revision) => BigInt(revision)),
    );
  });
});
