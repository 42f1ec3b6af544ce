import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ANY,
  BACKWARDS,
  END,
  NO_STREAM,
  STREAM_EXISTS,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import {
  appendPaths,
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

describe('a soft-deleted stream', () => {
  it('reads as if it did not exist', async () => {
    const stream = await streamOf(3);
    await store.client.deleteStream(stream);
    expect(await rejection(collect(store.client.readStream(stream)))).toBeInstanceOf(StreamNotFoundError);
    const backwards = store.client.readStream(stream, { direction: BACKWARDS, fromRevision: END });
    expect(await rejection(collect(backwards))).toBeInstanceOf(StreamNotFoundError);
  });

  it.each([
    ['any', ANY],
    ['no_stream', NO_STREAM],
    ['the revision of the last event', 2n],
  ] as const)(
    'is created again by an append at %s, its numbers going on',
    async (_name, expectedRevision) => {
      const stream = await streamOf(3);
      await store.client.deleteStream(stream);
      const result = await store.client.appendToStream(stream, sampleEvents(2), { expectedRevision });
      expect(result.nextExpectedRevision).toBe(4n);
      expect(await revisionsIn(store.client.readStream(stream))).toEqual([3n, 4n]);
    },
  );

  it('refuses an append at a revision that is not the last', async () => {
    const stream = await streamOf(3);
    await store.client.deleteStream(stream);
    expect(
      await rejection(store.client.appendToStream(stream, sampleEvents(1), { expectedRevision: 1n })),
    ).toBeInstanceOf(WrongExpectedVersionError);
  });

  it.each(appendPaths)(
    'answers stream-deleted to an append at `stream_exists` by %s',
    async (_path, options) => {
      const stream = await streamOf(1);
      await store.client.deleteStream(stream);
      const append = store.client.appendToStream(stream, sampleEvents(1), {
        ...options,
        expectedRevision: STREAM_EXISTS,
      });
      expect(await rejection(append)).toMatchObject({ type: 'stream-deleted', streamName: stream });
    },
  );

  it('is marked by a truncation of everything in its metadata', async () => {
    const stream = await streamOf(1);
    await store.client.deleteStream(stream);
    const { metadata } = await store.client.getStreamMetadata(stream);
    expect(metadata?.truncateBefore).toBe(Number(2n ** 63n - 1n));
  });

  it('truncates before its new life once created again', async () => {
    const stream = await streamOf(4);
    await store.client.deleteStream(stream);
    await store.client.appendToStream(stream, sampleEvents(1));
    expect((await store.client.getStreamMetadata(stream)).metadata?.truncateBefore).toBe(4);
  });

  it('can be deleted and created again', async () => {
    const stream = await streamOf(1);
    for (let life = 1n; life <= 3n; life += 1n) {
      await store.client.deleteStream(stream);
      await store.client.appendToStream(stream, sampleEvents(1), { expectedRevision: NO_STREAM });
      expect(await revisionsIn(store.client.readStream(stream))).toEqual([life]);
    }
  });

  it('comes back empty when its metadata is set', async () => {
    const stream = await streamOf(2);
    await store.client.deleteStream(stream);
    await store.client.setStreamMetadata(stream, { maxCount: 50 });
    expect(await collect(store.client.readStream(stream))).toEqual([]);
    await store.client.appendToStream(stream, sampleEvents(1));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([2n]);
  });
});

describe('deleting a stream', () => {
  it('answers a position behind its events', async () => {
    const stream = newStream();
    const { position } = await store.client.appendToStream(stream, sampleEvents(1));
    const deleted = await store.client.deleteStream(stream);
    expect(deleted.position?.commit ?? 0n).toBeGreaterThan(position?.commit ?? 0n);
  });

  it('succeeds at the revision of the last event', async () => {
    const stream = await streamOf(3);
    await store.client.deleteStream(stream, { expectedRevision: 2n });
    expect(await rejection(collect(store.client.readStream(stream)))).toBeInstanceOf(StreamNotFoundError);
  });

  it('is refused at another revision, naming expected and actual', async () => {
    const stream = await streamOf(3);
    const error = await rejection(store.client.deleteStream(stream, { expectedRevision: 0n }));
    expect(error).toBeInstanceOf(WrongExpectedVersionError);
    expect(error).toMatchObject({ streamName: stream, expectedVersion: 0n, actualVersion: 2n });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n]);
  });

  it('is refused at `no_stream` when it exists', async () => {
    const stream = await streamOf(1);
    expect(
      await rejection(store.client.deleteStream(stream, { expectedRevision: NO_STREAM })),
    ).toBeInstanceOf(WrongExpectedVersionError);
  });

  it('succeeds when it has metadata alone, and its first event comes to life', async () => {
    const stream = newStream();
    await store.client.setStreamMetadata(stream, { maxCount: 5 });
    await store.client.deleteStream(stream, { expectedRevision: NO_STREAM });
    expect((await store.client.getStreamMetadata(stream)).metadata?.truncateBefore).toBe(
      Number(2n ** 63n - 1n),
    );
    await store.client.appendToStream(stream, sampleEvents(1), { expectedRevision: NO_STREAM });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n]);
  });

  it('is refused when it never existed, at any revision too', async () => {
    for (const expectedRevision of [ANY, NO_STREAM] as const) {
      expect(await rejection(store.client.deleteStream(newStream(), { expectedRevision }))).toBeInstanceOf(
        WrongExpectedVersionError,
      );
    }
  });

  it('succeeds at `no_stream` when it is soft-deleted already, and so does tombstoning it', async () => {
    const stream = await streamOf(2);
    await store.client.deleteStream(stream);
    await store.client.deleteStream(stream, { expectedRevision: NO_STREAM });
    expect(await rejection(collect(store.client.readStream(stream)))).toBeInstanceOf(StreamNotFoundError);
    await store.client.tombstoneStream(stream, { expectedRevision: NO_STREAM });
    expect(await rejection(collect(store.client.readStream(stream)))).toBeInstanceOf(StreamDeletedError);
  });

  it('is refused at a revision when it never existed', async () => {
    expect(await rejection(store.client.deleteStream(newStream(), { expectedRevision: 0n }))).toBeInstanceOf(
      WrongExpectedVersionError,
    );
  });
});

describe('a tombstoned stream', () => {
  it('answers stream-deleted to reads, with its name', async () => {
    const stream = await streamOf(2);
    await store.client.tombstoneStream(stream);
    const error = await rejection(collect(store.client.readStream(stream)));
    expect(error).toBeInstanceOf(StreamDeletedError);
    expect(error).toMatchObject({ type: 'stream-deleted', streamName: stream });
  });

  it.each(appendPaths)('answers stream-deleted to every append by %s', async (_path, options) => {
    const stream = await streamOf(2);
    await store.client.tombstoneStream(stream);
    for (const expectedRevision of [ANY, NO_STREAM, 1n] as const) {
      const append = store.client.appendToStream(stream, sampleEvents(1), { ...options, expectedRevision });
      expect(await rejection(append)).toMatchObject({ type: 'stream-deleted', streamName: stream });
    }
  });

  it('cannot be deleted again in either way', async () => {
    const stream = await streamOf(1);
    await store.client.tombstoneStream(stream);
    expect(await rejection(store.client.deleteStream(stream))).toBeInstanceOf(StreamDeletedError);
    expect(await rejection(store.client.tombstoneStream(stream))).toBeInstanceOf(StreamDeletedError);
  });

  it('takes its metadata with it', async () => {
    const stream = await streamOf(1);
    await store.client.setStreamMetadata(stream, { maxCount: 3 });
    await store.client.tombstoneStream(stream);
    expect(await rejection(store.client.getStreamMetadata(stream))).toBeInstanceOf(StreamDeletedError);
    expect(await rejection(store.client.setStreamMetadata(stream, { maxCount: 1 }))).toBeInstanceOf(
      StreamDeletedError,
    );
  });

  it('need never have existed', async () => {
    const stream = newStream();
    await store.client.tombstoneStream(stream, { expectedRevision: NO_STREAM });
    expect(await rejection(store.client.appendToStream(stream, sampleEvents(1)))).toBeInstanceOf(
      StreamDeletedError,
    );
  });

  it('may have been soft-deleted before', async () => {
    const stream = await streamOf(1);
    await store.client.deleteStream(stream);
    await store.client.tombstoneStream(stream);
    expect(await rejection(collect(store.client.readStream(stream)))).toBeInstanceOf(StreamDeletedError);
  });

  it('ends in an event of the highest revision', async () => {
    const stream = await streamOf(1);
    const { position } = await store.client.tombstoneStream(stream);
    if (position === undefined) throw new Error('no position');
    const [tombstone] = await recordedIn(store.client.readAll({ fromPosition: position, maxCount: 1 }));
    expect(tombstone).toMatchObject({
      streamId: stream,
      type: '$streamDeleted',
      revision: 2n ** 63n - 1n,
    });
  });
});

describe('tombstoning a stream', () => {
  it('is refused at another revision', async () => {
    const stream = await streamOf(2);
    expect(await rejection(store.client.tombstoneStream(stream, { expectedRevision: 0n }))).toMatchObject({
      type: 'wrong-expected-version',
      expectedVersion: 0n,
      actualVersion: 1n,
    });
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n]);
  });

  it('answers the position of the tombstone', async () => {
    const stream = await streamOf(1);
    const { position } = await store.client.tombstoneStream(stream);
    const [event] = await recordedIn(
      store.client.readAll({ fromPosition: position ?? { commit: 0n, prepare: 0n }, maxCount: 1 }),
    );
    expect(event).toMatchObject({ streamId: stream, type: '$streamDeleted' });
  });
});
