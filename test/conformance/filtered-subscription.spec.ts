import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Position } from '@eventstore/db-client';
import { END, START, excludeSystemEvents } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import type { Delivery, FilterSketch } from './recorded-subscription.js';
import { RecordedSubscription, recordingFilter, until } from './recorded-subscription.js';
import { newStream, sampleEvents } from './sample-events.js';

let store: EventStoreUnderTest;
const open: RecordedSubscription[] = [];

function subscribe(sketch: FilterSketch, fromPosition: Position | typeof START | typeof END = START) {
  const deliveries: Delivery[] = [];
  const filter = recordingFilter(sketch, deliveries);
  const subscription = new RecordedSubscription(
    store.client.subscribeToAll({ fromPosition, filter }),
    deliveries,
  );
  open.push(subscription);
  return subscription;
}

const streamsSeen = (subscription: RecordedSubscription) => [
  ...new Set(subscription.events.map((event) => event.streamId)),
];

beforeAll(async () => {
  store = await startEventStore();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((subscription) => subscription.stop()));
});
afterAll(() => store.stop());

describe('a filter on stream names', () => {
  const run = randomUUID();
  const [apples, pears, plums] = [`apple-${run}`, `pear-${run}`, `plum-${run}`];

  beforeAll(async () => {
    for (const stream of [apples, pears, plums]) await store.client.appendToStream(stream, sampleEvents(3));
  });

  it('by a prefix lets the streams with that prefix through', async () => {
    const subscription = await subscribe({ on: 'stream', prefixes: [`apple-${run}`] }).caughtUp();
    expect(streamsSeen(subscription)).toEqual([apples]);
    expect(subscription.events).toHaveLength(3);
  });

  it('by several prefixes lets each of them through, in log order', async () => {
    const subscription = await subscribe({
      on: 'stream',
      prefixes: [`plum-${run}`, `apple-${run}`],
    }).caughtUp();
    expect(streamsSeen(subscription)).toEqual([apples, plums]);
  });

  it('by a regular expression searches the name', async () => {
    const subscription = await subscribe({ on: 'stream', regex: `^p.*${run}$` }).caughtUp();
    expect(streamsSeen(subscription)).toEqual([pears, plums]);
  });

  it('by a regular expression without anchors matches anywhere', async () => {
    const subscription = await subscribe({ on: 'stream', regex: `l(e|um)-${run}` }).caughtUp();
    expect(streamsSeen(subscription)).toEqual([apples, plums]);
  });

  it('applies to live events too', async () => {
    const subscription = await subscribe({ on: 'stream', prefixes: [`live-${run}`] }, END).caughtUp();
    await store.client.appendToStream(`other-${run}`, sampleEvents(5));
    await store.client.appendToStream(`live-${run}`, sampleEvents(2));
    await subscription.received(2);
    expect(streamsSeen(subscription)).toEqual([`live-${run}`]);
  });

  it('does not take a prefix for a pattern', async () => {
    await store.client.appendToStream(`dot.ted-${run}`, sampleEvents(1));
    await store.client.appendToStream(`dotxted-${run}`, sampleEvents(1));
    const subscription = await subscribe({ on: 'stream', prefixes: ['dot.ted-'] }).caughtUp();
    expect(streamsSeen(subscription)).toContain(`dot.ted-${run}`);
    expect(streamsSeen(subscription)).not.toContain(`dotxted-${run}`);
  });

  it('matches names beyond ASCII', async () => {
    await store.client.appendToStream(`größe-${run}`, sampleEvents(1));
    const subscription = await subscribe({ on: 'stream', prefixes: ['grö'] }).caughtUp();
    expect(streamsSeen(subscription)).toContain(`größe-${run}`);
  });
});

describe('a filter on event types', () => {
  const run = randomUUID();
  const stream = newStream();

  beforeAll(async () => {
    await store.client.appendToStream(stream, [
      ...sampleEvents(2, `Opened-${run}`),
      ...sampleEvents(3, `Closed-${run}`),
      ...sampleEvents(1, `Renamed-${run}`),
    ]);
  });

  it('by a prefix lets the types with that prefix through', async () => {
    const subscription = await subscribe({ on: 'type', prefixes: [`Closed-${run}`] }).caughtUp();
    expect(subscription.events.map((event) => event.revision)).toEqual([2n, 3n, 4n]);
  });

  it('by a regular expression lets the matching types through', async () => {
    const subscription = await subscribe({ on: 'type', regex: `^(Opened|Renamed)-${run}` }).caughtUp();
    expect(subscription.events.map((event) => event.revision)).toEqual([0n, 1n, 5n]);
  });

  it('that excludes system events lets everything else through', async () => {
    const subscription = new RecordedSubscription(
      store.client.subscribeToAll({ fromPosition: START, filter: excludeSystemEvents() }),
    );
    open.push(subscription);
    await subscription.caughtUp();
    expect(subscription.eventsIn(stream)).toHaveLength(6);
    expect(subscription.events.filter((event) => event.type.startsWith('$'))).toEqual([]);
  });
});

describe('a filter that cannot be', () => {
  it('is refused when its regular expression does not compile', async () => {
    const subscription = subscribe({ on: 'stream', regex: '([unclosed' });
    await until('an error', () => subscription.errors.length > 0);
    expect(subscription.events).toEqual([]);
  });
});

describe('the checkpoints of a filtered subscription', () => {
  const run = randomUUID();
  const wanted = `wanted-${run}`;
  const sketch = { on: 'stream', prefixes: [wanted] } as const;
  const positionOf = (delivery: Delivery): bigint | undefined => {
    switch (delivery.kind) {
      case 'event':
        return delivery.resolved.event?.position?.commit;
      case 'checkpoint':
        return delivery.position.commit;
      default:
        return undefined;
    }
  };

  beforeAll(async () => {
    for (let round = 0; round < 10; round += 1) {
      await store.client.appendToStream(`unwanted-${run}`, sampleEvents(40));
      await store.client.appendToStream(wanted, sampleEvents(1));
    }
  });

  it('come although few events match', async () => {
    const subscription = await subscribe(sketch).caughtUp();
    expect(subscription.events).toHaveLength(10);
    expect(subscription.checkpoints.length).toBeGreaterThan(5);
  });

  it('come although no event matches', async () => {
    const subscription = await subscribe({ on: 'stream', prefixes: [`nothing-${run}`] }).caughtUp();
    expect(subscription.events).toEqual([]);
    expect(subscription.checkpoints.length).toBeGreaterThan(5);
  });

  it('never lie behind an event that was already sent', async () => {
    const subscription = await subscribe(sketch).caughtUp();
    let sent = 0n;
    const behind: bigint[] = [];
    for (const delivery of subscription.deliveries) {
      const position = positionOf(delivery) ?? sent;
      if (delivery.kind === 'checkpoint' && position < sent) behind.push(position);
      if (delivery.kind === 'event') sent = position;
    }
    expect(behind).toEqual([]);
  });

  it('never lie ahead of an event that was not yet sent', async () => {
    const subscription = await subscribe(sketch).caughtUp();
    let checkpoint = 0n;
    const skipped: bigint[] = [];
    for (const delivery of subscription.deliveries) {
      const position = positionOf(delivery) ?? checkpoint;
      if (delivery.kind === 'event' && position <= checkpoint) skipped.push(position);
      if (delivery.kind === 'checkpoint') checkpoint = position;
    }
    expect(skipped).toEqual([]);
  });

  it('rise', async () => {
    const { checkpoints } = await subscribe(sketch).caughtUp();
    const commits = checkpoints.map((position) => position.commit);
    expect(commits.every((commit, index) => commit >= (commits[index - 1] ?? 0n))).toBe(true);
  });

  it('are fewer with a longer interval', async () => {
    const short = await subscribe({ ...sketch, checkpointInterval: 1 }).caughtUp();
    const long = await subscribe({ ...sketch, checkpointInterval: 8 }).caughtUp();
    expect(long.checkpoints.length).toBeGreaterThan(0);
    expect(long.checkpoints.length).toBeLessThan(short.checkpoints.length);
  });

  it('are fewer with a wider search window', async () => {
    const narrow = await subscribe({ ...sketch, maxSearchWindow: 16 }).caughtUp();
    const wide = await subscribe({ ...sketch, maxSearchWindow: 256 }).caughtUp();
    expect(wide.checkpoints.length).toBeLessThan(narrow.checkpoints.length);
  });

  it('include one when the subscription goes live', async () => {
    const subscription = subscribe({ ...sketch, checkpointInterval: 1_000 });
    await subscription.caughtUp();
    await until('a checkpoint', () => subscription.checkpoints.length > 0);
  });

  it('come while live too, after an interval of events that do not match', async () => {
    const subscription = await subscribe({ ...sketch, checkpointInterval: 1 }, END).caughtUp();
    const before = subscription.checkpoints.length;
    await store.client.appendToStream(`unwanted-${run}`, sampleEvents(100));
    await until('a live checkpoint', () => subscription.checkpoints.length > before);
  });

  it('are places from which a subscription resumes without losing an event', async () => {
    const whole = await subscribe(sketch).caughtUp();
    const ids = whole.events.map((event) => event.id);
    for (const checkpoint of [whole.checkpoints[0], whole.checkpoints[4], whole.checkpoints.at(-1)]) {
      if (checkpoint === undefined) throw new Error('a checkpoint is missing');
      const before = whole.events.filter((event) => (event.position?.commit ?? 0n) <= checkpoint.commit);
      const resumed = await subscribe(sketch, checkpoint).caughtUp();
      expect(resumed.events.map((event) => event.id)).toEqual(ids.slice(before.length));
    }
  });
});
