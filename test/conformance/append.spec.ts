import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ANY,
  END,
  BACKWARDS,
  MaxAppendSizeExceededError,
  NO_STREAM,
  STREAM_EXISTS,
  WrongExpectedVersionError,
  binaryEvent,
  jsonEvent,
} from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import {
  appendPaths,
  newStream,
  recorded,
  recordedIn,
  rejection,
  revisionsIn,
  sampleEvent,
  sampleEvents,
} from './sample-events.js';

let store: EventStoreUnderTest;
beforeAll(async () => {
  store = await startEventStore();
});
afterAll(() => store.stop());

describe.each(appendPaths)('appending by %s', (_path, options) => {
  const append = (
    stream: string,
    events: ReturnType<typeof sampleEvents>,
    expectedRevision: Expected = ANY,
  ) => store.client.appendToStream(stream, events, { ...options, expectedRevision });
  type Expected = NonNullable<
    Parameters<EventStoreUnderTest['client']['appendToStream']>[2]
  >['expectedRevision'];

  it('numbers the events of a stream from 0 without a gap', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(2));
    await append(stream, sampleEvents(3));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n, 3n, 4n]);
  });

  it('answers the revision of the last event written', async () => {
    const stream = newStream();
    expect((await append(stream, sampleEvents(3))).nextExpectedRevision).toBe(2n);
    expect((await append(stream, sampleEvents(1))).nextExpectedRevision).toBe(3n);
  });

  it('answers the position of the last event written', async () => {
    const stream = newStream();
    const { position } = await append(stream, sampleEvents(3));
    const [last] = await recordedIn(
      store.client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 }),
    );
    expect(position).toEqual(last?.position);
  });

  it('accepts `any` on a stream that does not exist and on one that does', async () => {
    const stream = newStream();
    expect((await append(stream, sampleEvents(1), ANY)).success).toBe(true);
    expect((await append(stream, sampleEvents(1), ANY)).success).toBe(true);
  });

  it('accepts `no_stream` on a stream that does not exist', async () => {
    expect((await append(newStream(), sampleEvents(1), NO_STREAM)).nextExpectedRevision).toBe(0n);
  });

  it('refuses `no_stream` on a stream that exists, naming expected and actual', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(2));
    const error = await rejection(append(stream, sampleEvents(1), NO_STREAM));
    expect(error).toBeInstanceOf(WrongExpectedVersionError);
    expect(error).toMatchObject({ streamName: stream, expectedVersion: NO_STREAM, actualVersion: 1n });
  });

  it('accepts the revision of the last event', async () => {
    const stream = newStream();
    const { nextExpectedRevision } = await append(stream, sampleEvents(2));
    expect((await append(stream, sampleEvents(1), nextExpectedRevision)).nextExpectedRevision).toBe(2n);
  });

  it('refuses a revision behind the last event, naming expected and actual', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(4));
    const error = await rejection(append(stream, sampleEvents(1), 1n));
    expect(error).toBeInstanceOf(WrongExpectedVersionError);
    expect(error).toMatchObject({ streamName: stream, expectedVersion: 1n, actualVersion: 3n });
  });

  it('refuses a revision ahead of the last event', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(1));
    const error = await rejection(append(stream, sampleEvents(1), 5n));
    expect(error).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 5n, actualVersion: 0n });
  });

  it('refuses a revision on a stream that does not exist', async () => {
    const error = await rejection(append(newStream(), sampleEvents(1), 0n));
    expect(error).toMatchObject({
      type: 'wrong-expected-version',
      expectedVersion: 0n,
      actualVersion: NO_STREAM,
    });
  });

  it('accepts `stream_exists` on a stream with events', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(1));
    expect((await append(stream, sampleEvents(1), STREAM_EXISTS)).nextExpectedRevision).toBe(1n);
  });

  it('refuses `stream_exists` on a stream that does not exist', async () => {
    const error = await rejection(append(newStream(), sampleEvents(1), STREAM_EXISTS));
    expect(error).toMatchObject({
      type: 'wrong-expected-version',
      expectedVersion: STREAM_EXISTS,
      actualVersion: NO_STREAM,
    });
  });

  it('accepts `stream_exists` on a stream that has only metadata', async () => {
    const stream = newStream();
    await store.client.setStreamMetadata(stream, { maxCount: 10 });
    expect((await append(stream, sampleEvents(1), STREAM_EXISTS)).nextExpectedRevision).toBe(0n);
  });

  it('writes nothing of an append that it refuses', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(2));
    await rejection(append(stream, sampleEvents(5), NO_STREAM));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n]);
  });

  it('keeps id, type, data and metadata of a JSON event', async () => {
    const stream = newStream();
    const event = sampleEvent(7);
    await append(stream, [event]);
    const [stored] = await recordedIn(store.client.readStream(stream));
    expect(stored).toMatchObject({
      id: event.id,
      type: event.type,
      data: event.data,
      metadata: event.metadata,
      isJson: true,
      streamId: stream,
    });
  });

  it('keeps the bytes of a binary event and of binary metadata', async () => {
    const stream = newStream();
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const event = binaryEvent({ type: 'Bytes', data: bytes, metadata: Uint8Array.of(0xff, 0, 1) });
    await store.client.appendToStream(stream, event, options);
    const [stored] = await recordedIn(store.client.readStream(stream));
    expect(stored?.isJson).toBe(false);
    expect([...Buffer.from(stored?.data as Uint8Array)]).toEqual([...bytes]);
    expect([...Buffer.from(stored?.metadata as Uint8Array)]).toEqual([0xff, 0, 1]);
  });

  it('keeps an event without metadata', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, jsonEvent({ type: 'Bare', data: {} }), options);
    const [stored] = await recordedIn(store.client.readStream(stream));
    expect(stored).toMatchObject({ type: 'Bare', data: {}, metadata: undefined });
  });

  it('keeps names, types and data beyond ASCII', async () => {
    const stream = newStream('größe-日本-🗒️');
    const event = jsonEvent({ type: 'Überprüft🧾', data: { text: '𝄞 \u0000 ü' } });
    await store.client.appendToStream(stream, event, options);
    const [stored] = await recordedIn(store.client.readStream(stream));
    expect(stored).toMatchObject({ streamId: stream, type: event.type, data: event.data });
  });

  it('stamps events with the time at which they were written', async () => {
    const stream = newStream();
    const before = Date.now();
    await append(stream, sampleEvents(1));
    const [stored] = await recordedIn(store.client.readStream(stream));
    const tolerance = 60_000;
    expect(Math.abs((stored?.created.getTime() ?? 0) - before)).toBeLessThan(tolerance);
  });

  it('accepts an append of just under a mebibyte', async () => {
    const stream = newStream();
    const data = 'x'.repeat(1024 * 1024 - 1_000);
    await store.client.appendToStream(stream, jsonEvent({ type: 'Large', data }), options);
    expect(recorded((await collectFirst(stream))[0]).data).toBe(data);
  });

  it('answers many appends in flight each with its own result', async () => {
    const streams = Array.from({ length: 60 }, () => newStream());
    const results = await Promise.all(
      streams.map((stream, index) => append(stream, sampleEvents((index % 5) + 1))),
    );
    expect(results.map((result) => result.nextExpectedRevision)).toEqual(
      streams.map((_, index) => BigInt(index % 5)),
    );
  });

  it('lets exactly one of several appends at the same revision win', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(1));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => append(stream, sampleEvents(1), 0n)),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n]);
  });

  it('writes the events of one append next to each other', async () => {
    const stream = newStream();
    await Promise.all(
      Array.from({ length: 10 }, (_, writer) => append(stream, sampleEvents(5, `Writer${writer}`))),
    );
    const types = (await recordedIn(store.client.readStream(stream))).map((event) => event.type);
    for (let start = 0; start < types.length; start += 5) {
      expect(new Set(types.slice(start, start + 5)).size).toBe(1);
    }
  });

  it('gives later appends higher positions', async () => {
    const first = await append(newStream(), sampleEvents(1));
    const second = await append(newStream(), sampleEvents(1));
    expect(second.position?.commit ?? 0n).toBeGreaterThan(first.position?.commit ?? 0n);
  });

  async function collectFirst(stream: string) {
    const read = store.client.readStream(stream, { maxCount: 1 });
    const found = [];
    for await (const event of read) found.push(event);
    return found;
  }
});

describe('an append whose deadline has passed', () => {
  it('times out and is not written', async () => {
    const stream = newStream();
    const late = store.client.appendToStream(stream, sampleEvents(1), { deadline: -60_000 });
    expect(await rejection(late)).toMatchObject({ type: 'deadline-exceeded' });
    expect(await rejection(revisionsIn(store.client.readStream(stream)))).toMatchObject({
      type: 'stream-not-found',
    });
  });
});

describe('an append that is too large', () => {
  // Two and a half times the largest limit in use would be slow: servers with a larger limit accept this one.
  const parts = () => Array.from({ length: 5 }, () => jsonEvent({ type: 'Part', data: 'x'.repeat(300_000) }));

  it.each(appendPaths)('is refused whole or written whole by %s', async (_path, options) => {
    const stream = newStream();
    const outcome = await store.client
      .appendToStream(stream, parts(), options)
      .catch((error: unknown) => error);
    const refused = outcome instanceof MaxAppendSizeExceededError;
    expect(refused ? outcome.maxAppendSize : Infinity).toBeGreaterThanOrEqual(1024 * 1024);
    const written = await revisionsIn(store.client.readStream(stream)).catch(() => []);
    expect(written).toHaveLength(refused ? 0 : 5);
  });

  it('leaves the other appends of the same client alone', async () => {
    const stream = newStream();
    const [, small] = await Promise.allSettled([
      store.client.appendToStream(newStream(), parts()),
      store.client.appendToStream(stream, sampleEvents(1)),
    ]);
    expect(small.status).toBe('fulfilled');
  });
});

describe('an empty append', () => {
  it('succeeds on a stream that does not exist and does not create it', async () => {
    const stream = newStream();
    expect((await store.client.appendToStream(stream, [], { expectedRevision: NO_STREAM })).success).toBe(
      true,
    );
    expect(await rejection(revisionsIn(store.client.readStream(stream)))).toMatchObject({
      type: 'stream-not-found',
    });
  });

  it('answers the revision of the last event', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(3));
    const result = await store.client.appendToStream(stream, [], { expectedRevision: 2n });
    expect(result.nextExpectedRevision).toBe(2n);
  });

  it('checks the expected revision', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(3));
    expect(
      await rejection(store.client.appendToStream(stream, [], { expectedRevision: NO_STREAM })),
    ).toBeInstanceOf(WrongExpectedVersionError);
  });
});
