import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '@eventstore/db-client';
import { BACKWARDS, END, START } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { collect, newStream, recordedIn, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
const [one, other] = [newStream('one'), newStream('other')];
let written: RecordedEvent[] = [];

const place = (event: RecordedEvent | undefined) => {
  if (event?.position === undefined) throw new Error('the event has no position');
  return event.position;
};
const mine = (events: RecordedEvent[]) =>
  events.filter((event) => event.streamId === one || event.streamId === other).map((event) => event.id);

beforeAll(async () => {
  store = await startEventStore();
  for (let round = 0; round < 5; round += 1) {
    await store.client.appendToStream(one, sampleEvents(2));
    await store.client.appendToStream(other, sampleEvents(3));
  }
  const events = await Promise.all([one, other].map((stream) => recordedIn(store.client.readStream(stream))));
  written = events.flat().sort((a, b) => Number(place(a).commit - place(b).commit));
});
afterAll(() => store.stop());

describe('reading the whole log forwards', () => {
  it('finds system events before anything was written', async () => {
    const [first] = await recordedIn(store.client.readAll({ maxCount: 1 }));
    expect(first?.streamId.startsWith('$')).toBe(true);
  });

  it('gives the events of all streams in the order in which they were written', async () => {
    const all = await recordedIn(store.client.readAll({ fromPosition: START }));
    expect(mine(all)).toEqual(written.map((event) => event.id));
  });

  it('gives strictly rising positions, none of them 0', async () => {
    const positions = (await recordedIn(store.client.readAll())).map((event) => place(event).commit);
    expect(positions.every((position, index) => position > (positions[index - 1] ?? 0n))).toBe(true);
  });

  it('begins with the event at the given position', async () => {
    const read = store.client.readAll({ fromPosition: place(written[7]), maxCount: 1 });
    expect((await recordedIn(read))[0]?.id).toBe(written[7]?.id);
  });

  it('goes on from a position as from the start', async () => {
    const read = await recordedIn(store.client.readAll({ fromPosition: place(written[10]) }));
    expect(mine(read)).toEqual(written.slice(10).map((event) => event.id));
  });

  it('gives at most as many events as asked for', async () => {
    expect(await collect(store.client.readAll({ maxCount: 6 }))).toHaveLength(6);
  });

  it('is empty from the end', async () => {
    expect(await collect(store.client.readAll({ fromPosition: END }))).toEqual([]);
  });

  it('can be paged by the position of the last event, which comes twice', async () => {
    const paged: string[] = [];
    let from: { commit: bigint; prepare: bigint } | typeof START = START;
    for (;;) {
      const page: RecordedEvent[] = await recordedIn(
        store.client.readAll({ fromPosition: from, maxCount: 4 }),
      );
      const fresh = page.filter((event) => !paged.includes(event.id));
      paged.push(...fresh.map((event) => event.id));
      if (fresh.length === 0) break;
      from = place(page.at(-1));
    }
    const all = await recordedIn(store.client.readAll());
    expect(paged).toEqual(all.slice(0, paged.length).map((event) => event.id));
    expect(paged.length).toBeGreaterThanOrEqual(written.length);
  });
});

describe('reading the whole log backwards', () => {
  it('gives the newest event first', async () => {
    const all = await recordedIn(store.client.readAll({ direction: BACKWARDS, fromPosition: END }));
    expect(mine(all)).toEqual(written.map((event) => event.id).toReversed());
  });

  it('begins before the event at the given position', async () => {
    const read = store.client.readAll({ direction: BACKWARDS, fromPosition: place(written[7]), maxCount: 1 });
    expect((await recordedIn(read))[0]?.id).toBe(written[6]?.id);
  });

  it('is empty from the start', async () => {
    expect(await collect(store.client.readAll({ direction: BACKWARDS, fromPosition: START }))).toEqual([]);
  });

  it('gives at most as many events as asked for', async () => {
    const read = store.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 3 });
    expect(await collect(read)).toHaveLength(3);
  });

  it('mirrors the forward read', async () => {
    const forwards = await recordedIn(store.client.readAll());
    const backwards = await recordedIn(store.client.readAll({ direction: BACKWARDS, fromPosition: END }));
    // Others may have written in between.
    const until = place(forwards.at(-1)).commit;
    const upToThere = backwards.filter((event) => place(event).commit <= until);
    expect(upToThere.map((event) => event.id).toReversed()).toEqual(forwards.map((event) => event.id));
  });
});

describe('the whole log', () => {
  it('holds metadata events', async () => {
    const stream = newStream();
    await store.client.setStreamMetadata(stream, { maxCount: 5 });
    const all = await recordedIn(store.client.readAll());
    expect(all.find((event) => event.streamId === `$$${stream}`)?.type).toBe('$metadata');
  });

  it('keeps the events of a soft-deleted stream', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(2));
    await store.client.deleteStream(stream);
    const all = await recordedIn(store.client.readAll());
    expect(all.filter((event) => event.streamId === stream)).toHaveLength(2);
  });

  it('keeps the events of a tombstoned stream and shows the tombstone', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(2));
    await store.client.tombstoneStream(stream);
    const types = (await recordedIn(store.client.readAll()))
      .filter((event) => event.streamId === stream)
      .map((event) => event.type);
    expect(types).toEqual(['SampleHappened', 'SampleHappened', '$streamDeleted']);
  });

  it('keeps events that `$maxCount` cut from their stream', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(4));
    await store.client.setStreamMetadata(stream, { maxCount: 1 });
    const all = await recordedIn(store.client.readAll());
    expect(all.filter((event) => event.streamId === stream)).toHaveLength(4);
  });
});
