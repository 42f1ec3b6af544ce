import { describe, expect, it } from '@jest/globals';
import type { RawEvent } from '../event-store/recorded-event.js';
import { Inbox } from './inbox.js';
import { systemScheduler } from './scheduler.js';

const at = (position: bigint): RawEvent => ({
  id: `id-${position}`,
  type: 'Seen',
  stream: 's',
  revision: position,
  position,
  recordedAt: 0,
  data: {},
  metadata: {},
});

function inboxWith(...positions: bigint[]): Inbox {
  const inbox = new Inbox(systemScheduler);
  for (const position of positions) inbox.add(at(position));
  return inbox;
}

const positionsOf = (batch: ReturnType<Inbox['take']>): bigint[] | undefined =>
  batch?.events.map(({ position }) => position);

describe('what a subscription has delivered', () => {
  it('is taken in order, with the position of the last event taken', () => {
    const inbox = inboxWith(1n, 2n, 3n);
    const first = inbox.take(2, 1_000_000n);
    expect([positionsOf(first), first?.upTo]).toEqual([[1n, 2n], 2n]);
    const second = inbox.take(2, 1_000_000n);
    expect([positionsOf(second), second?.upTo]).toEqual([[3n], 3n]);
    expect(inbox.take(2, 1_000_000n)).toBeNull();
  });

  it('stores a passed position only with everything received before it', () => {
    const inbox = inboxWith(1n, 2n);
    inbox.pass(9n);
    expect(inbox.take(1, 1_000_000n)?.upTo).toBe(1n);
    expect(inbox.take(1, 1_000_000n)).toMatchObject({ upTo: 9n });
  });

  it('passes positions without events', () => {
    const inbox = inboxWith();
    inbox.pass(9n);
    expect(inbox.take(10, 1_000_000n)).toEqual({ events: [], upTo: 9n });
    expect(inbox.take(10, 1_000_000n)).toBeNull();
  });

  it('does not step back when an older position is passed late', () => {
    const inbox = inboxWith(5n);
    inbox.pass(3n);
    expect(inbox.take(10, 1_000_000n)?.upTo).toBe(5n);
  });

  it('counts what waits', () => {
    const inbox = inboxWith(1n, 2n, 3n);
    inbox.take(2, 1_000_000n);
    expect(inbox.size).toBe(1);
  });
});

describe('who waits for something to take', () => {
  it('is woken by an event, by a passed position, or by force', async () => {
    for (const wake of [
      (inbox: Inbox): void => inbox.add(at(1n)),
      (inbox: Inbox): void => inbox.pass(1n),
      (inbox: Inbox): void => inbox.stir(),
    ]) {
      const inbox = new Inbox(systemScheduler);
      const filled = inbox.filled();
      wake(inbox);
      await expect(filled).resolves.toBeUndefined();
    }
  });

  it('is woken by who stirred before it waited, but only once', async () => {
    const inbox = new Inbox(systemScheduler);
    inbox.stir();
    await expect(inbox.filled()).resolves.toBeUndefined();
    let woken = false;
    const again = inbox.filled().then(() => (woken = true));
    await Promise.resolve();
    expect(woken).toBe(false);
    inbox.stir();
    await again;
  });

  it('does not wait when something is there', async () => {
    await expect(inboxWith(1n).filled()).resolves.toBeUndefined();
  });
});
