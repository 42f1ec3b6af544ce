import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ResolvedEvent } from '@eventstore/db-client';
import { BACKWARDS, END, START, binaryEvent } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { RecordedSubscription } from './recorded-subscription.js';
import { collect, newStream, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
let target: string;
let links: string;

/** A link is an event of type `$>` whose data is `revision@stream`. */
const linkTo = (stream: string, revision: number) =>
  binaryEvent({ type: '$>', data: Buffer.from(`${revision}@${stream}`) });

beforeAll(async () => {
  store = await startEventStore();
});
afterAll(() => store.stop());

async function linked(count: number): Promise<void> {
  [target, links] = [newStream('target'), newStream('links')];
  await store.client.appendToStream(target, sampleEvents(count));
  const events = Array.from({ length: count }, (_, revision) => linkTo(target, revision));
  await store.client.appendToStream(links, events);
}
const targets = (events: ResolvedEvent[]) =>
  events.map((resolved) => [resolved.event?.streamId, resolved.event?.revision]);

describe('a stream of links', () => {
  it('shows the links themselves unless they are to be followed', async () => {
    await linked(2);
    const events = await collect(store.client.readStream(links));
    expect(events.map((resolved) => resolved.event?.type)).toEqual(['$>', '$>']);
    expect(events.map((resolved) => resolved.link)).toEqual([undefined, undefined]);
  });

  it('followed, gives each target beside its link', async () => {
    await linked(3);
    const events = await collect(store.client.readStream(links, { resolveLinkTos: true }));
    expect(targets(events)).toEqual([
      [target, 0n],
      [target, 1n],
      [target, 2n],
    ]);
    expect(events.map((resolved) => [resolved.link?.streamId, resolved.link?.revision])).toEqual([
      [links, 0n],
      [links, 1n],
      [links, 2n],
    ]);
  });

  it('followed backwards, gives the targets backwards', async () => {
    await linked(2);
    const read = store.client.readStream(links, {
      resolveLinkTos: true,
      direction: BACKWARDS,
      fromRevision: END,
    });
    expect(targets(await collect(read))).toEqual([
      [target, 1n],
      [target, 0n],
    ]);
  });

  it('gives the link alone when its target is deleted', async () => {
    await linked(1);
    await store.client.deleteStream(target);
    const [resolved] = await collect(store.client.readStream(links, { resolveLinkTos: true }));
    expect(resolved?.event).toBeUndefined();
    expect(resolved?.link?.streamId).toBe(links);
  });

  it('gives the link alone when its target never existed', async () => {
    links = newStream('links');
    await store.client.appendToStream(links, linkTo(newStream('nowhere'), 0));
    const [resolved] = await collect(store.client.readStream(links, { resolveLinkTos: true }));
    expect(resolved?.event).toBeUndefined();
    expect(resolved?.link?.type).toBe('$>');
  });

  it('leaves events that are no links as they are', async () => {
    const stream = newStream();
    await store.client.appendToStream(stream, sampleEvents(1));
    const [resolved] = await collect(store.client.readStream(stream, { resolveLinkTos: true }));
    expect(resolved?.event?.streamId).toBe(stream);
    expect(resolved?.link).toBeUndefined();
  });

  it('is followed by a subscription too', async () => {
    await linked(2);
    const subscription = new RecordedSubscription(
      store.client.subscribeToStream(links, { fromRevision: START, resolveLinkTos: true }),
    );
    await subscription.caughtUp();
    expect(subscription.events.map((event) => event.streamId)).toEqual([target, target]);
    await subscription.stop();
  });
});
