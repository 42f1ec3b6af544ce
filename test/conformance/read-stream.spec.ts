import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BACKWARDS, END, FORWARDS, START, StreamNotFoundError, jsonEvent } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { collect, newStream, recordedIn, rejection, revisionsIn, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
const ten = newStream('ten');
const upTo = (last: number): bigint[] => Array.from({ length: last + 1 }, (_, revision) => BigInt(revision));

beforeAll(async () => {
  store = await startEventStore();
  await store.client.appendToStream(ten, sampleEvents(10));
});
afterAll(() => store.stop());

describe('reading a stream forwards', () => {
  it('gives all events from the start', async () => {
    expect(
      await revisionsIn(store.client.readStream(ten, { direction: FORWARDS, fromRevision: START })),
    ).toEqual(upTo(9));
  });

  it('begins with the event at the given revision', async () => {
    expect(await revisionsIn(store.client.readStream(ten, { fromRevision: 7n }))).toEqual([7n, 8n, 9n]);
  });

  it('gives at most as many events as asked for', async () => {
    expect(await revisionsIn(store.client.readStream(ten, { fromRevision: 3n, maxCount: 4 }))).toEqual([
      3n,
      4n,
      5n,
      6n,
    ]);
  });

  it('gives what there is when asked for more', async () => {
    expect(await revisionsIn(store.client.readStream(ten, { fromRevision: 8n, maxCount: 100 }))).toEqual([
      8n,
      9n,
    ]);
  });

  it('is empty from behind the last event', async () => {
    expect(await collect(store.client.readStream(ten, { fromRevision: 10n }))).toEqual([]);
    expect(await collect(store.client.readStream(ten, { fromRevision: 1_000_000n }))).toEqual([]);
  });

  it('is empty from the end', async () => {
    expect(await collect(store.client.readStream(ten, { fromRevision: END }))).toEqual([]);
  });
});

describe('reading a stream backwards', () => {
  const backwards = (options: { fromRevision?: bigint | typeof END | typeof START; maxCount?: number }) =>
    revisionsIn(store.client.readStream(ten, { direction: BACKWARDS, ...options }));

  it('gives all events from the end', async () => {
    expect(await backwards({ fromRevision: END })).toEqual(upTo(9).toReversed());
  });

  it('begins with the event at the given revision', async () => {
    expect(await backwards({ fromRevision: 2n })).toEqual([2n, 1n, 0n]);
  });

  it('begins with the last event when the revision lies behind it', async () => {
    expect(await backwards({ fromRevision: 500n, maxCount: 2 })).toEqual([9n, 8n]);
  });

  it('gives at most as many events as asked for', async () => {
    expect(await backwards({ fromRevision: END, maxCount: 3 })).toEqual([9n, 8n, 7n]);
  });

  it('gives the first event only from the start', async () => {
    expect(await backwards({ fromRevision: START })).toEqual([0n]);
  });

  it('finds the last event with a count of one', async () => {
    expect(await backwards({ fromRevision: END, maxCount: 1 })).toEqual([9n]);
  });
});

describe('a read event', () => {
  it('carries a position that rises with the revision, the same for commit and prepare', async () => {
    const events = await recordedIn(store.client.readStream(ten));
    const positions = events.map((event) => event.position);
    positions.forEach((position, index) => {
      expect(position?.commit).toBe(position?.prepare);
      const before = positions[index - 1]?.commit ?? 0n;
      expect(position?.commit ?? 0n).toBeGreaterThan(before);
    });
  });

  it('carries its commit position on the resolved event too', async () => {
    const [first] = await collect(store.client.readStream(ten, { maxCount: 1 }));
    expect(first?.commitPosition).toBe(first?.event?.position?.commit);
    expect(first?.link).toBeUndefined();
  });
});

describe('a stream that does not exist', () => {
  it('is reported with its name', async () => {
    const stream = newStream('nowhere');
    const error = await rejection(collect(store.client.readStream(stream)));
    expect(error).toBeInstanceOf(StreamNotFoundError);
    expect(error).toMatchObject({ type: 'stream-not-found', streamName: stream });
  });

  it('is reported to a backward read too', async () => {
    const read = store.client.readStream(newStream(), { direction: BACKWARDS, fromRevision: END });
    expect(await rejection(collect(read))).toBeInstanceOf(StreamNotFoundError);
  });

  it('is reported for a metastream that was never written', async () => {
    expect(await rejection(collect(store.client.readStream(`$$${newStream()}`)))).toBeInstanceOf(
      StreamNotFoundError,
    );
  });
});

describe('a long stream', () => {
  const stream = newStream('long');
  const COUNT = 3_000;

  beforeAll(async () => {
    for (let sent = 0; sent < COUNT; sent += 500)
      await store.client.appendToStream(stream, sampleEvents(500));
  });

  it('is read whole and in order forwards', async () => {
    expect(await revisionsIn(store.client.readStream(stream))).toEqual(upTo(COUNT - 1));
  });

  it('is read whole and in order backwards', async () => {
    const read = store.client.readStream(stream, { direction: BACKWARDS, fromRevision: END });
    expect(await revisionsIn(read)).toEqual(upTo(COUNT - 1).toReversed());
  });

  it('is read by several readers at the same time', async () => {
    const reads = await Promise.all(
      Array.from({ length: 5 }, () => revisionsIn(store.client.readStream(stream))),
    );
    expect(reads.map((revisions) => revisions.length)).toEqual(Array.from({ length: 5 }, () => COUNT));
  });

  it('can be left in the middle, and the client goes on', async () => {
    const read = store.client.readStream(stream);
    let seen = 0;
    for await (const _event of read) {
      seen += 1;
      if (seen === 10) break;
    }
    await read.cancel();
    expect(await revisionsIn(store.client.readStream(ten, { maxCount: 1 }))).toEqual([0n]);
  });
});

describe('large events', () => {
  it('are read whole, many in one read', async () => {
    const stream = newStream('large');
    const texts = Array.from({ length: 8 }, (_, index) => String(index).repeat(700_000));
    for (const text of texts)
      await store.client.appendToStream(stream, jsonEvent({ type: 'Large', data: text }));
    const read = await recordedIn(store.client.readStream(stream));
    expect(read.map((event) => event.data === texts[Number(event.revision)])).toEqual(texts.map(() => true));
  });
});

describe('a stream name', () => {
  it.each([
    'with blanks  in it',
    'per%cent',
    'sla/sh?q=1#x',
    'quote\'"`',
    'new\nline',
    'zero\u0000byte',
    'Ünïcode',
  ])('may be %j', async (label) => {
    const stream = newStream(label);
    await store.client.appendToStream(stream, sampleEvents(1));
    const [event] = await recordedIn(store.client.readStream(stream));
    expect(event?.streamId).toBe(stream);
  });

  it('tells upper from lower case', async () => {
    const stream = newStream('Case');
    await store.client.appendToStream(stream, sampleEvents(1));
    expect(await rejection(collect(store.client.readStream(stream.toLowerCase())))).toBeInstanceOf(
      StreamNotFoundError,
    );
  });

  it('may be a prefix of another one', async () => {
    const stream = newStream();
    await store.client.appendToStream(`${stream}-longer`, sampleEvents(2));
    await store.client.appendToStream(stream, sampleEvents(1));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n]);
  });
});
