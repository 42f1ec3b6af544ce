import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SubscribeToStreamOptions } from '@eventstore/db-client';
import { END, START } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { RecordedSubscription, until } from './recorded-subscription.js';
import { newStream, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
const open: RecordedSubscription[] = [];

function subscribe(stream: string, options: SubscribeToStreamOptions = {}): RecordedSubscription {
  const subscription = new RecordedSubscription(store.client.subscribeToStream(stream, options));
  open.push(subscription);
  return subscription;
}
const revisions = (subscription: RecordedSubscription): bigint[] =>
  subscription.events.map((e) => e.revision);

beforeAll(async () => {
  store = await startEventStore();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((subscription) => subscription.stop()));
});
afterAll(() => store.stop());

describe('a subscription to a stream', () => {
  it('is confirmed before anything else', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(2));
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    expect(subscription.deliveries[0]).toEqual({ kind: 'confirmed' });
    expect(subscription.count('confirmed')).toBe(1);
  });

  it('from the start gives what is there, then what comes', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(3));
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    await store.client.appendToStream(stream, sampleEvents(2));
    await subscription.received(5);
    expect(revisions(subscription)).toEqual([0n, 1n, 2n, 3n, 4n]);
  });

  it('from a revision begins behind it', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(5));
    const subscription = await subscribe(stream, { fromRevision: 2n }).caughtUp();
    expect(revisions(subscription)).toEqual([3n, 4n]);
  });

  it('from the end gives later events only', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(3));
    const subscription = await subscribe(stream, { fromRevision: END }).caughtUp();
    await store.client.appendToStream(stream, sampleEvents(1));
    await subscription.received(1);
    expect(revisions(subscription)).toEqual([3n]);
  });

  it('waits for a stream that does not exist yet', async () => {
    const stream = newStream();
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    await store.client.appendToStream(stream, sampleEvents(2));
    await subscription.received(2);
    expect(revisions(subscription)).toEqual([0n, 1n]);
  });

  it('says that it has caught up behind the last event that was there', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(4));
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    const kinds = subscription.deliveries.map((delivery) => delivery.kind);
    expect(kinds).toEqual(['confirmed', 'event', 'event', 'event', 'event', 'caught-up']);
  });

  it('gives no event of another stream', async () => {
    const stream = newStream();
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    await store.client.appendToStream(`${stream}-2`, sampleEvents(3));
    await store.client.appendToStream(stream, sampleEvents(1));
    await subscription.received(1);
    expect(subscription.events.map((event) => event.streamId)).toEqual([stream]);
  });

  it('gives a long history in order and without a gap', async () => {
    const stream = newStream();
    for (let round = 0; round < 4; round += 1) await store.client.appendToStream(stream, sampleEvents(500));
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    expect(revisions(subscription)).toEqual(Array.from({ length: 2_000 }, (_, revision) => BigInt(revision)));
  });

  it('loses and doubles nothing while writers go on', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(200));
    const writing = Promise.all(
      Array.from({ length: 5 }, async () => {
        for (let round = 0; round < 20; round += 1)
          await store.client.appendToStream(stream, sampleEvents(2));
      }),
    );
    const subscription = subscribe(stream, { fromRevision: START });
    await writing;
    await subscription.received(400);
    expect(revisions(subscription)).toEqual(Array.from({ length: 400 }, (_, revision) => BigInt(revision)));
  });

  it('serves several subscribers alike', async () => {
    const stream = newStream();
    const subscribers = Array.from({ length: 5 }, () => subscribe(stream, { fromRevision: START }));
    await Promise.all(subscribers.map((subscriber) => subscriber.caughtUp()));
    await store.client.appendToStream(stream, sampleEvents(3));
    await Promise.all(subscribers.map((subscriber) => subscriber.received(3)));
    for (const subscriber of subscribers) expect(revisions(subscriber)).toEqual([0n, 1n, 2n]);
  });

  it('gives nothing more after it was left', async () => {
    const stream = newStream();
    const [leaving, staying] = [subscribe(stream), subscribe(stream)];
    await Promise.all([leaving.caughtUp(), staying.caughtUp()]);
    await leaving.stop();
    await store.client.appendToStream(stream, sampleEvents(2));
    await staying.received(2);
    expect(leaving.events).toEqual([]);
    expect(leaving.errors).toEqual([]);
  });

  it('leaves out what `$maxCount` has cut', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(5));
    await store.client.setStreamMetadata(stream, { maxCount: 2 });
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    expect(revisions(subscription)).toEqual([3n, 4n]);
  });

  it('gives the metadata of a stream when it is to its metastream', async () => {
    const stream = newStream();
    const subscription = await subscribe(`$$${stream}`, { fromRevision: START }).caughtUp();
    await store.client.setStreamMetadata(stream, { maxCount: 7 });
    await subscription.received(1);
    expect(subscription.events[0]).toMatchObject({ type: '$metadata', data: { $maxCount: 7 } });
  });
});

describe('a subscription to a stream that is deleted', () => {
  it('goes on behind a soft deletion with the events of the new life', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(2));
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    await store.client.deleteStream(stream);
    await store.client.appendToStream(stream, sampleEvents(1));
    await subscription.received(3);
    expect(revisions(subscription)).toEqual([0n, 1n, 2n]);
    expect(subscription.errors).toEqual([]);
  });

  it('ends with stream-deleted at a tombstone', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(1));
    const subscription = await subscribe(stream, { fromRevision: START }).caughtUp();
    await store.client.tombstoneStream(stream);
    await until('the subscription to end', () => subscription.errors.length > 0);
    expect(subscription.errors[0]).toMatchObject({ type: 'stream-deleted', streamName: stream });
  });

  it('is refused with stream-deleted when the tombstone is there already', async () => {
    const stream = newStream();
    await store.client.tombstoneStream(stream);
    const subscription = subscribe(stream, { fromRevision: START });
    await until('the subscription to end', () => subscription.errors.length > 0);
    expect(subscription.errors[0]).toMatchObject({ type: 'stream-deleted' });
  });
});
