import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RawEvent } from '../event-store/recorded-event.js';
import { EngineFigures } from './engine-figures.js';
import { systemScheduler } from './scheduler.js';

let now: number;
let figures: EngineFigures;

beforeEach(() => {
  now = 5_000;
  figures = new EngineFigures({ ...systemScheduler, now: () => now });
  figures.restart(100n);
});

const event = (position: bigint, recordedAt: number): RawEvent => ({
  id: `e${position}`,
  type: 'T',
  stream: 's',
  revision: position,
  position,
  recordedAt,
  data: {},
  metadata: {},
});

function apply(events: readonly RawEvent[], next: RawEvent | null = null, milliseconds = 10): void {
  const begun = now;
  now += milliseconds;
  figures.committed({ events, upTo: events.at(-1)?.position ?? 0n }, begun, next);
}

describe('the figures of an engine', () => {
  it('say that nothing waits, however old the last event is', () => {
    figures.eventReceived(event(110n, 1_000));
    apply([event(110n, 1_000)]);
    now += 3_600_000;
    expect(figures.snapshot()).toMatchObject({
      checkpoint: 110n,
      checkpointAge: 3_600_000,
      gap: 0,
      gapEstimated: false,
      lag: 0,
      standstill: 0,
      lastBatch: { events: 1, milliseconds: 10 },
    });
  });

  it('count the gap in events, those of a batch under way among them', () => {
    const events = [event(110n, 0), event(120n, 0), event(130n, 0)];
    for (const one of events) figures.eventReceived(one);
    expect(figures.snapshot().gap).toBe(3);
    apply(events.slice(0, 2), events[2]);
    expect(figures.snapshot().gap).toBe(1);
  });

  it('tell the lag from the oldest event that waits to the newest, by the clock of the log', () => {
    const events = [event(110n, 1_000), event(120n, 61_000), event(130n, 91_000)];
    for (const one of events) figures.eventReceived(one);
    expect(figures.snapshot().lag).toBe(90_000);
    apply(events.slice(0, 1), events[1]);
    expect(figures.snapshot().lag).toBe(30_000);
  });

  it('tell the lag of a lone event by how long it has waited here, after any silence', () => {
    figures.eventReceived(event(110n, 0));
    apply([event(110n, 0)]);
    now += 3_600_000;
    figures.eventReceived(event(120n, 3_600_000));
    now += 250;
    expect(figures.snapshot()).toMatchObject({ gap: 1, lag: 250, standstill: 250 });
  });

  it('tell of a standstill only while something waits and the checkpoint does not move', () => {
    const events = [event(110n, 0), event(120n, 0)];
    for (const one of events) figures.eventReceived(one);
    now += 4_000;
    apply(events.slice(0, 1), events[1], 1_000);
    expect(figures.snapshot().standstill).toBe(0);
    now += 7_000;
    expect(figures.snapshot().standstill).toBe(7_000);
    apply(events.slice(1));
    expect(figures.snapshot().standstill).toBe(0);
  });

  it('estimate what has not even been received, from the bytes that events have taken so far', () => {
    figures.eventReceived(event(150n, 0));
    figures.eventReceived(event(200n, 0));
    apply([event(150n, 0), event(200n, 0)]);
    figures.headSeen(event(450n, 0));
    now += 2_000;
    expect(figures.snapshot()).toMatchObject({ gap: 5, gapEstimated: true, lag: 2_000, standstill: 2_000 });
    figures.headSeen(event(200n, 0));
    figures.eventReceived(event(210n, 0));
    apply([event(210n, 0)]);
    expect(figures.snapshot()).toMatchObject({ gap: 0, gapEstimated: false, lag: 0 });
  });

  it('give the rate of the last ten seconds', () => {
    for (let second = 0; second < 20; second += 1) {
      const events = Array.from({ length: second < 10 ? 1 : 30 }, (_, index) =>
        event(1_000n * BigInt(second + 1) + BigInt(index), 0),
      );
      for (const one of events) figures.eventReceived(one);
      apply(events);
      now += 990;
    }
    expect(figures.snapshot().rate).toBe(30);
    now += 5_000;
    expect(figures.snapshot().rate).toBe(15);
    now += 60_000;
    expect(figures.snapshot().rate).toBe(0);
  });

  it('forget what another life was waiting for, but not how often there was one', () => {
    figures.eventReceived(event(110n, 0));
    figures.headSeen(event(900n, 0));
    figures.retried();
    figures.restart(100n);
    now += 1_000;
    expect(figures.snapshot()).toMatchObject({
      gap: 0,
      lag: 0,
      standstill: 0,
      retries: 1,
      checkpointAge: null,
    });
  });

  it('count what was passed over from life to life, and say which is the first of its type', () => {
    const told = ['Sliced', 'Sliced', 'Diced'].map((type) => figures.passedOver(type));
    expect(told).toEqual([1, 2, 1]);
    figures.restart(200n);
    expect(figures.snapshot().passedOver).toBe(3);
  });
});
