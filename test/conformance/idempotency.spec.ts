import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ANY, NO_STREAM, STREAM_EXISTS, WrongExpectedVersionError } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { appendPaths, newStream, rejection, revisionsIn, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
beforeAll(async () => {
  store = await startEventStore();
});
afterAll(() => store.stop());

describe.each(appendPaths)('a retry with the same ids by %s', (_path, options) => {
  type Expected = NonNullable<
    Parameters<EventStoreUnderTest['client']['appendToStream']>[2]
  >['expectedRevision'];
  const append = (stream: string, events: ReturnType<typeof sampleEvents>, expectedRevision: Expected) =>
    store.client.appendToStream(stream, events, { ...options, expectedRevision });

  it('at `no_stream` gives the first result and writes nothing', async () => {
    const stream = newStream();
    const events = sampleEvents(3);
    const first = await append(stream, events, NO_STREAM);
    expect(await append(stream, events, NO_STREAM)).toEqual(first);
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n]);
  });

  it('at a revision gives the first result and writes nothing', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(2), NO_STREAM);
    const events = sampleEvents(2);
    const first = await append(stream, events, 1n);
    expect(await append(stream, events, 1n)).toEqual(first);
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n, 3n]);
  });

  it('succeeds after the stream has moved on', async () => {
    const stream = newStream();
    const events = sampleEvents(2);
    const first = await append(stream, events, NO_STREAM);
    await append(stream, sampleEvents(4), 1n);
    expect(await append(stream, events, NO_STREAM)).toEqual(first);
  });

  it('of only the first events of the original succeeds', async () => {
    const stream = newStream();
    const events = sampleEvents(3);
    await append(stream, events, NO_STREAM);
    expect((await append(stream, events.slice(0, 2), NO_STREAM)).nextExpectedRevision).toBe(1n);
  });

  it('of more than was written is refused', async () => {
    const stream = newStream();
    const events = sampleEvents(3);
    await append(stream, events.slice(0, 2), NO_STREAM);
    expect(await rejection(append(stream, events, NO_STREAM))).toBeInstanceOf(WrongExpectedVersionError);
  });

  it('with another first event is refused', async () => {
    const stream = newStream();
    const events = sampleEvents(2);
    await append(stream, events, NO_STREAM);
    expect(
      await rejection(append(stream, [...sampleEvents(1), ...events.slice(1)], NO_STREAM)),
    ).toBeInstanceOf(WrongExpectedVersionError);
  });

  it('with another later event is refused', async () => {
    const stream = newStream();
    const events = sampleEvents(2);
    await append(stream, events, NO_STREAM);
    expect(
      await rejection(append(stream, [...events.slice(0, 1), ...sampleEvents(1)], NO_STREAM)),
    ).toBeInstanceOf(WrongExpectedVersionError);
  });

  it('in another order is refused', async () => {
    const stream = newStream();
    const events = sampleEvents(2);
    await append(stream, events, NO_STREAM);
    expect(await rejection(append(stream, events.toReversed(), NO_STREAM))).toBeInstanceOf(
      WrongExpectedVersionError,
    );
  });

  it('at another revision than the original is refused', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(3), NO_STREAM);
    const events = sampleEvents(1);
    await append(stream, events, 2n);
    expect(await rejection(append(stream, events, 0n))).toBeInstanceOf(WrongExpectedVersionError);
  });

  it('at `any` soon after is not written twice', async () => {
    const stream = newStream();
    const events = sampleEvents(2);
    const first = await append(stream, events, ANY);
    expect((await append(stream, events, ANY)).nextExpectedRevision).toBe(first.nextExpectedRevision);
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n]);
  });

  it('at `any` with a new event behind known ones is refused', async () => {
    const stream = newStream();
    const events = sampleEvents(2);
    await append(stream, events, ANY);
    expect(await rejection(append(stream, [...events, ...sampleEvents(1)], ANY))).toBeInstanceOf(
      WrongExpectedVersionError,
    );
  });

  it('at `stream_exists` soon after is not written twice', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(1), NO_STREAM);
    const events = sampleEvents(2);
    await append(stream, events, STREAM_EXISTS);
    await append(stream, events, STREAM_EXISTS);
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n]);
  });

  it('is none with other ids: at `any` the events are there twice', async () => {
    const stream = newStream();
    await append(stream, sampleEvents(2), ANY);
    await append(stream, sampleEvents(2), ANY);
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n, 2n, 3n]);
  });

  it('into another stream is written there', async () => {
    const events = sampleEvents(2);
    const [one, other] = [newStream(), newStream()];
    await append(one, events, NO_STREAM);
    await append(other, events, NO_STREAM);
    expect(await revisionsIn(store.client.readStream(other))).toEqual([0n, 1n]);
  });

  it('sent at the same time as the original is written once', async () => {
    const stream = newStream();
    const events = sampleEvents(2);
    const results = await Promise.all(Array.from({ length: 8 }, () => append(stream, events, NO_STREAM)));
    expect(new Set(results.map((result) => result.position?.commit)).size).toBe(1);
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n, 1n]);
  });
});
