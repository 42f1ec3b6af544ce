import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Position } from '../event-store/position.js';
import { HeadWatch, type LogStandstill } from './head-watch.js';
import type { LogFollower, LogPlace } from './ports.js';
import { systemScheduler } from './scheduler.js';

const TICK_MS = 250;
const SILENCE_MS = 3_000;

let now: number;
let tick: () => void;
let received: Position;
let paused: boolean;
let head: Position;
/** How long the log takes to answer; null: it does not. */
let latency: number | null;
let answers: { at: number; give: () => void }[];
let asked: number;
let lost: LogStandstill[];

beforeEach(() => {
  now = 0;
  received = head = 10n;
  paused = false;
  latency = 0;
  answers = [];
  asked = 0;
  lost = [];
  const log: Pick<LogFollower, 'newest'> = {
    newest: () =>
      new Promise<LogPlace>((resolve) => {
        asked += 1;
        const place = { position: head, recordedAt: 0 };
        if (latency !== null) answers.push({ at: now + latency, give: () => resolve(place) });
      }),
  };
  new HeadWatch({
    log: log as LogFollower,
    prefixes: [],
    scheduler: {
      ...systemScheduler,
      every: (milliseconds, work) => {
        expect(milliseconds).toBe(TICK_MS);
        tick = work;
        return () => undefined;
      },
    },
    received: () => received,
    paused: () => paused,
    seen: () => undefined,
    lost: (error) => lost.push(error),
  });
});

/** Time goes by. A process that stands still meanwhile finds one tick, and the answers behind it. */
async function pass(milliseconds: number, step = TICK_MS): Promise<void> {
  for (const end = now + milliseconds; now < end;) {
    now += step;
    tick();
    for (const { give } of answers.filter(({ at }) => at <= now)) give();
    answers = answers.filter(({ at }) => at > now);
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the watch over the head of the log', () => {
  it('gives up a log that says nothing for three seconds, and not sooner', async () => {
    await pass(10_000);
    latency = null;
    await pass(SILENCE_MS);
    expect(lost).toEqual([]);
    await pass(TICK_MS);
    expect(lost[0]?.message).toBe('the log does not answer');
  });

  it('waits for a log that takes just under two seconds for each answer', async () => {
    latency = 1_900;
    await pass(60_000);
    expect([lost, asked > 20]).toEqual([[], true]);
  });

  it('takes no time for silence in which this process itself stood still', async () => {
    for (let round = 0; round < 20; round += 1) {
      await pass(15_000, 15_000);
      await pass(500);
    }
    expect(lost).toEqual([]);
  });

  it('gives up a subscription that brings nothing of what three looks in a row have seen', async () => {
    head = 20n;
    await pass(2_750);
    expect(lost).toEqual([]);
    await pass(TICK_MS);
    expect(lost[0]?.message).toBe('the subscription brings nothing of what the log has');
  });

  it('takes answers that come late and together for one look', async () => {
    head = 20n;
    latency = 60_000;
    await pass(SILENCE_MS);
    expect(asked).toBe(3);
    for (const { give } of answers.splice(0)) give();
    await settled();
    received = head;
    latency = 0;
    await pass(10_000);
    expect(lost).toEqual([]);
  });

  it('hardly asks while events come, and never gives up what is held back on purpose', async () => {
    for (let count = 0; count < 40; count += 1) {
      received += 1n;
      await pass(TICK_MS);
    }
    expect([asked, lost]).toEqual([2, []]);
    paused = true;
    latency = null;
    await pass(60_000);
    expect(lost).toEqual([]);
  });
});
