import type { EventLog } from '../../event-store/event-log.js';
import type { Feed } from '../../event-store/feed.js';
import type { Position } from '../../event-store/position.js';
import type { RawEvent } from '../../event-store/recorded-event.js';
import { Inbox } from '../inbox.js';
import { systemScheduler } from '../scheduler.js';
import { NOTHING_APPLIED } from '../set-schema.js';

const BATCH_SPAN = 16n * 1024n * 1024n;
/** Few: what waits here is carried over by each collection of short-lived objects. */
const INBOX_HIGH = 1_000;
const INBOX_LOW = 250;
const INBOX_HIGH_SPAN = 32n * 1024n * 1024n;

export interface LogSource {
  readonly log: EventLog;
  readonly prefixes: readonly string[];
  /** Of one batch at most. */
  readonly batchEvents: number;
  readonly signal: AbortSignal;
  /** Why it makes no sense to go on. */
  readonly failure: () => Error | null;
}

/**
 * Hands over every event after `from` and at or before `upTo`, in order, and with each batch the position up to which
 * nothing is missing. `upTo` must be a position that the log has reached. Throws the signal's reason or the feed's end.
 */
export async function followTo(
  { log, prefixes, batchEvents, signal, failure }: LogSource,
  from: Position,
  upTo: Position,
  take: (batch: readonly RawEvent[], position: Position) => Promise<void>,
): Promise<void> {
  const inbox = new Inbox(systemScheduler);
  let ended: Error | null = null;
  let headSeen = false;
  const feed: Feed = log.follow(from === NOTHING_APPLIED ? null : from, prefixes, {
    event: (raw) => {
      inbox.add(raw);
      if (inbox.size > INBOX_HIGH || inbox.span > INBOX_HIGH_SPAN) feed.pause();
    },
    passed: (position) => inbox.pass(position),
    caughtUp: () => {
      headSeen = true;
      inbox.stir();
    },
  });
  void feed.ended.then((reason) => {
    ended = reason ?? new Error('the subscription was stopped');
    inbox.stir();
  });
  const stir = (): void => inbox.stir();
  signal.addEventListener('abort', stir);
  try {
    for (;;) {
      signal.throwIfAborted();
      // Without the head in sight more must come; with it, what has come is all there is.
      if (!headSeen) await inbox.filled();
      signal.throwIfAborted();
      const lost = failure() ?? ended;
      if (lost) throw lost;
      const batch = inbox.take(batchEvents, BATCH_SPAN);
      if (!batch) {
        if (!headSeen) continue;
        return await take([], upTo);
      }
      const within = batch.events.filter(({ position }) => position <= upTo);
      const isLast = within.length < batch.events.length || batch.upTo >= upTo;
      await take(within, isLast ? upTo : batch.upTo);
      if (isLast) return;
      if (inbox.size < INBOX_LOW) feed.resume();
      // The connection gets its turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    signal.removeEventListener('abort', stir);
    await feed.stop();
  }
}
