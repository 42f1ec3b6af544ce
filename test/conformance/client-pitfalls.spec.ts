import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jsonEvent } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { connectTo, startEventStore } from './event-store-under-test.js';
import { until } from './recorded-subscription.js';
import { collect, newStream, recordedIn, rejection, revisionsIn, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
beforeAll(async () => {
  store = await startEventStore();
});
afterAll(() => store.stop());

describe('a client', () => {
  it('finds the node by gossip', async () => {
    const discovering = connectTo(store.url.replace('esdb://', 'esdb+discover://'));
    const stream = newStream();
    await discovering.appendToStream(stream, sampleEvents(1));
    expect(await revisionsIn(store.client.readStream(stream))).toEqual([0n]);
    await discovering.dispose();
  });

  it('may begin with a hundred appends at once', async () => {
    const fresh = store.connect();
    const streams = Array.from({ length: 150 }, () => newStream());
    await Promise.all(streams.map((stream) => fresh.appendToStream(stream, sampleEvents(1))));
    expect(await revisionsIn(store.client.readStream(streams[149] ?? ''))).toEqual([0n]);
  });

  it('may have hundreds of reads open at once', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(5));
    const reads = await Promise.all(
      Array.from({ length: 300 }, () => revisionsIn(store.client.readStream(stream))),
    );
    expect(reads.every((revisions) => revisions.length === 5)).toBe(true);
  });

  it('may read a hundred events hundreds of times, each read ending in good order', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(100));
    for (let round = 0; round < 300; round += 1) {
      if (round % 3 === 0) await store.client.appendToStream(newStream(), sampleEvents(1));
      expect(await revisionsIn(store.client.readStream(stream))).toHaveLength(100);
    }
  });

  it('sees what another client has been told is written', async () => {
    const other = store.connect();
    for (let round = 0n; round < 20n; round += 1n) {
      const stream = newStream();
      await store.client.appendToStream(stream, sampleEvents(1));
      expect(await revisionsIn(other.readStream(stream))).toEqual([0n]);
    }
  });

  it('that leaves reads unfinished does not disturb others', async () => {
    const stream = newStream();
    for (let round = 0; round < 3; round += 1) await store.client.appendToStream(stream, sampleEvents(500));
    const unfinished = Array.from({ length: 10 }, () => store.client.readStream(stream));
    for (const read of unfinished) read.on('error', () => undefined).pause();
    expect(await revisionsIn(store.client.readStream(stream))).toHaveLength(1_500);
    await Promise.all(unfinished.map((read) => read.cancel()));
  });

  it('goes on appending after another client on the same server was disposed', async () => {
    const other = connectTo(store.url);
    await other.appendToStream(newStream(), sampleEvents(1));
    await other.dispose();
    expect((await store.client.appendToStream(newStream(), sampleEvents(1))).success).toBe(true);
  });
});

describe('a client told not to throw', () => {
  it('gets a failed append as a value', async () => {
    const quiet = store.connect('throwOnAppendFailure=false');
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(3));
    const result = await quiet.appendToStream(stream, sampleEvents(1), { expectedRevision: 0n });
    expect(result).toMatchObject({ success: false, position: undefined });
  });

  it('gets the real revision from the call of its own only', async () => {
    const quiet = store.connect('throwOnAppendFailure=false');
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(4));
    const credentials = { username: 'admin', password: 'changeit' };
    const result = await quiet.appendToStream(stream, sampleEvents(1), { expectedRevision: 0n, credentials });
    expect(result).toMatchObject({ success: false, nextExpectedRevision: 3n });
  });
});

describe('event data', () => {
  it('loses digits of integers beyond 2^53 when it is read, and keeps them in strings', async () => {
    const stream = newStream();
    const text = '9007199254740993';
    // The client rounds data before it sends it, but sends metadata that are bytes as they are.
    const metadata = Uint8Array.from(Buffer.from(`{"number":${text},"text":"${text}"}`));
    await store.client.appendToStream(stream, { ...jsonEvent({ type: 'Money', data: {} }), metadata });
    const [stored] = await recordedIn(store.client.readStream(stream));
    expect(stored?.metadata).toEqual({ number: 9007199254740992, text });
  });

  it('may be an empty object, a string, a number or an array', async () => {
    const stream = newStream();
    const values = [{}, '', 0, [], [1, 'two', { three: 3 }]];
    await store.client.appendToStream(
      stream,
      values.map((data) => jsonEvent({ type: 'Value', data })),
    );
    expect((await recordedIn(store.client.readStream(stream))).map((event) => event.data)).toEqual(values);
  });
});

describe('an event that the server refuses', () => {
  it('for its empty type fails alone', async () => {
    const [bad, good] = await Promise.allSettled([
      store.client.appendToStream(newStream(), jsonEvent({ type: '', data: {} })),
      store.client.appendToStream(newStream(), sampleEvents(1)),
    ]);
    expect(bad.status).toBe('rejected');
    expect(good.status).toBe('fulfilled');
  });

  it('is not written', async () => {
    const stream = newStream();
    await rejection(store.client.appendToStream(stream, jsonEvent({ type: '', data: {} })));
    expect(await rejection(collect(store.client.readStream(stream)))).toMatchObject({
      type: 'stream-not-found',
    });
  });
});

describe('a subscription that is left', () => {
  it('ends without an error', async () => {
    const subscription = store.client.subscribeToAll();
    const errors: unknown[] = [];
    let confirmed = false;
    subscription.on('error', (error) => errors.push(error));
    subscription.on('confirmation', () => {
      confirmed = true;
    });
    subscription.on('data', () => undefined);
    await until('the confirmation', () => confirmed);
    await subscription.unsubscribe();
    await store.client.appendToStream(newStream(), sampleEvents(1));
    expect(errors).toEqual([]);
  });
});
