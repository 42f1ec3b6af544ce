import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { BACKWARDS, END, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import {
  collect,
  newStream,
  newStreamOf,
  recordedIn,
  rejection,
  revisionsIn,
  sampleEvents,
} from './sample-events.js';

let store: EventStoreUnderTest;
beforeAll(async () => {
  store = await startEventStore();
});
afterAll(() => store.stop());

const streamOf = (count: number): Promise<string> => newStreamOf(store.client, count);

describe('the metadata of a stream', () => {
  it('is absent, not an error, when it was never set', async () => {
    const stream = newStream();
    expect(await store.client.getStreamMetadata(stream)).toEqual({ streamName: stream });
  });

  it('comes back as it was set, own keys included', async () => {
    const stream = newStream();
    const metadata = {
      maxCount: 10,
      maxAge: 3_600,
      cacheControl: 5,
      owner: 'rollcall',
      nested: { a: [1, 2] },
    };
    await store.client.setStreamMetadata(stream, metadata);
    expect((await store.client.getStreamMetadata(stream)).metadata).toEqual(metadata);
  });

  it('is replaced as a whole', async () => {
    const stream = newStream();
    await store.client.setStreamMetadata(stream, { maxCount: 1, note: 'first' });
    await store.client.setStreamMetadata(stream, { maxCount: 2 });
    expect((await store.client.getStreamMetadata(stream)).metadata).toEqual({ maxCount: 2 });
  });

  it('can be set before the stream has events', async () => {
    const stream = newStream();
    await store.client.setStreamMetadata(stream, { maxCount: 2 });
    await store.client.appendToStream(stream, sampleEvents(5));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([3n, 4n]);
  });

  it('is written at an expected revision of the metastream', async () => {
    const stream = newStream();
    await store.client.setStreamMetadata(stream, { maxCount: 1 }, { expectedRevision: NO_STREAM });
    expect(
      await rejection(
        store.client.setStreamMetadata(stream, { maxCount: 2 }, { expectedRevision: NO_STREAM }),
      ),
    ).toBeInstanceOf(WrongExpectedVersionError);
    await store.client.setStreamMetadata(stream, { maxCount: 3 }, { expectedRevision: 0n });
    expect((await store.client.getStreamMetadata(stream)).metadata).toEqual({ maxCount: 3 });
  });

  it('is an event of type $metadata in the metastream, of which only the newest shows', async () => {
    const stream = newStream();
    for (const maxCount of [1, 2, 3]) await store.client.setStreamMetadata(stream, { maxCount });
    const events = await recordedIn(store.client.readStream(`$$${stream}`));
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: '$metadata', revision: 2n, data: { $maxCount: 3 } });
  });

  it('reports the commit position where a revision would be expected', async () => {
    const stream = newStream();
    const { position } = await store.client.setStreamMetadata(stream, { maxCount: 1 });
    expect((await store.client.getStreamMetadata(stream)).metastreamRevision).toBe(position?.commit);
  });

  it('does not make the stream exist for readers', async () => {
    const stream = newStream();
    await store.client.setStreamMetadata(stream, { maxCount: 1 });
    expect(await rejection(collect(store.client.readStream(stream)))).toMatchObject({
      type: 'stream-not-found',
    });
  });
});

describe('$maxCount', () => {
  it('keeps the newest events for readers', async () => {
    const stream = await streamOf(6);
    await store.client.setStreamMetadata(stream, { maxCount: 2 });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([4n, 5n]);
  });

  it('cuts the same events from a backward read', async () => {
    const stream = await streamOf(6);
    await store.client.setStreamMetadata(stream, { maxCount: 2 });
    const read = store.client.readStream(stream, { direction: BACKWARDS, fromRevision: END });
    expect(await revisionsIn(read)).toEqual([5n, 4n]);
  });

  it('moves on with each append', async () => {
    const stream = await streamOf(2);
    await store.client.setStreamMetadata(stream, { maxCount: 2 });
    await store.client.appendToStream(stream, sampleEvents(3));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([3n, 4n]);
  });

  it('larger than the stream cuts nothing', async () => {
    const stream = await streamOf(3);
    await store.client.setStreamMetadata(stream, { maxCount: 100 });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n]);
  });

  it('does not change what an append expects', async () => {
    const stream = await streamOf(4);
    await store.client.setStreamMetadata(stream, { maxCount: 1 });
    const result = await store.client.appendToStream(stream, sampleEvents(1), { expectedRevision: 3n });
    expect(result.nextExpectedRevision).toBe(4n);
  });

  it('makes a read from a revision that was cut begin with the first that was not', async () => {
    const stream = await streamOf(6);
    await store.client.setStreamMetadata(stream, { maxCount: 3 });
    expect(await revisionsIn(store.client.readStream(stream, { fromRevision: 1n }))).toEqual([3n, 4n, 5n]);
  });
});

describe('$tb', () => {
  it('cuts the events before it', async () => {
    const stream = await streamOf(5);
    await store.client.setStreamMetadata(stream, { truncateBefore: 3 });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([3n, 4n]);
  });

  it('behind the last event leaves a stream that is empty, not missing', async () => {
    const stream = await streamOf(3);
    await store.client.setStreamMetadata(stream, { truncateBefore: 50 });
    expect(await collect(store.client.readStream(stream))).toEqual([]);
  });

  it('and $maxCount together cut what either cuts', async () => {
    const stream = await streamOf(8);
    await store.client.setStreamMetadata(stream, { truncateBefore: 3, maxCount: 7 });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([3n, 4n, 5n, 6n, 7n]);
    await store.client.setStreamMetadata(stream, { truncateBefore: 3, maxCount: 2 });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([6n, 7n]);
  });
});

describe('$maxAge', () => {
  it('in the future of all events cuts nothing', async () => {
    const stream = await streamOf(3);
    await store.client.setStreamMetadata(stream, { maxAge: 3_600 });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n]);
  });

  it('cuts events that are older, in both directions', async () => {
    const stream = await streamOf(2);
    await store.client.setStreamMetadata(stream, { maxAge: 1 });
    const end = Date.now() + 10_000;
    while ((await collect(store.client.readStream(stream))).length > 0 && Date.now() < end) await delay(50);
    await store.client.appendToStream(stream, sampleEvents(1));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([2n]);
    const backwards = store.client.readStream(stream, { direction: BACKWARDS, fromRevision: END });
    expect(await revisionsIn(backwards)).toEqual([2n]);
  });
});
