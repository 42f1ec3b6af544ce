import {
  EventStoreDBClient,
  jsonEvent,
  NO_STREAM,
  START,
  BACKWARDS,
  END,
  FORWARDS,
} from '@eventstore/db-client';
import type {
  AppendResult,
  AppendToStreamOptions,
  EventData,
  ResolvedEvent,
  StreamingRead,
} from '@eventstore/db-client';
import pLimit from 'p-limit';
import { AppendTooLarge, isKeptByClient, isPassing, LogUnavailable, StreamTombstoned } from './errors.js';
import { followAll, type Feed, type FeedHandlers } from './feed.js';
import { reachLoopbackDirectly } from './loopback-proxy.js';
import { Outage } from './outage.js';
import { toRawEvent } from './raw-event.js';
import type { Position } from './position.js';
import type { EncodedEvent, RawEvent } from './recorded-event.js';
import { within } from './time-limit.js';

/** A client whose write queue is backed up while the connection drops rejects outside any promise; 32 keeps it short. */
const APPENDS_IN_FLIGHT = 32;
/**
 * Sent along as a deadline, so that a log that stood still does not write later what was given up meanwhile. It is an
 * instant of this machine's clock: a log elsewhere must keep the same time.
 */
const ATTEMPT_MS = 5_000;
/** From the call of `append` on, with the wait for a slot. */
const APPEND_TOTAL_MS = 15_000;
const READ_IDLE_MS = 10_000;
const NEWEST_MS = 3_000;
const NEWEST_AMONG = 32;
const FIRST_RETRY_MS = 50;
const CLOSE_MS = 500;

export type ExpectedRevision = bigint | 'no-stream';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly revision: bigint; readonly position: Position }
  | { readonly outcome: 'conflict' };

export interface ReadOptions {
  /** Inclusive; absent: the first event (the last one when backwards). */
  readonly from?: bigint;
  readonly backwards?: boolean;
  readonly limit?: number;
}

/**
 * The one place that touches `@eventstore/db-client`. Appends state an exact revision and a stable event id, so an
 * append whose outcome is unknown is simply sent again. Only the writer appends: a broken batch stream rejects the
 * appends of every client in the process.
 */
export class EventLog {
  private writer: EventStoreDBClient;
  private readonly reader: EventStoreDBClient;
  private readonly slots = pLimit(APPENDS_IN_FLIGHT);
  /** Gives up those that wait for a slot. */
  private readonly waiting = new Set<() => void>();
  private readonly outage = new Outage(() => {
    for (const giveUp of this.waiting) giveUp();
  });

  constructor(private readonly connectionString: string) {
    reachLoopbackDirectly(process.env);
    this.writer = EventStoreDBClient.connectionString`${connectionString}`;
    this.reader = EventStoreDBClient.connectionString`${connectionString}`;
  }

  /** Throws `LogUnavailable` within 15 s, `AppendTooLarge`, `StreamTombstoned`. */
  async append(
    stream: string,
    events: readonly EncodedEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendOutcome> {
    if (expected !== 'no-stream' && expected < 0n) throw new RangeError(`revision ${expected} is below 0`);
    const deadline = performance.now() + APPEND_TOTAL_MS;
    this.outage.begin();
    try {
      return await this.inSlot(() => this.appendWithRetries(stream, events, expected, deadline));
    } finally {
      this.outage.end();
    }
  }

  /** Appends that this process has begun and not finished: events that will soon be there to project. */
  get appendsInFlight(): number {
    return this.slots.activeCount + this.slots.pendingCount;
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncGenerator<RawEvent> {
    const backwards = options.backwards ?? false;
    const open = () =>
      this.reader.readStream(stream, {
        fromRevision: options.from ?? (backwards ? END : START),
        direction: backwards ? BACKWARDS : FORWARDS,
        ...(options.limit === undefined ? {} : { maxCount: options.limit }),
      });
    yield* this.drain(open, stream);
  }

  /** The position of the newest event in the log, whoever wrote it; null when the log is empty. Throws `LogUnavailable`. */
  async head(): Promise<Position | null> {
    const open = () => this.reader.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
    for await (const raw of this.drain(open, '$all')) return raw.position;
    return null;
  }

  /**
   * The newest event of the streams with one of these prefixes, if it is among the last few of the log, whoever wrote
   * those; else null. Throws `LogUnavailable` or `TimedOut` within 3 s.
   */
  newest(prefixes: readonly string[]): Promise<RawEvent | null> {
    return within(NEWEST_MS, this.findNewest(prefixes));
  }

  /** Every event after `after`, whoever wrote it, up to what is the head when it gets there. Throws `LogUnavailable`. */
  async *readAll(after: Position | null): AsyncGenerator<RawEvent> {
    const open = () =>
      this.reader.readAll({
        direction: FORWARDS,
        fromPosition: after === null ? START : { commit: after, prepare: after },
      });
    for await (const raw of this.drain(open, '$all')) if (after === null || raw.position > after) yield raw;
  }

  private async findNewest(prefixes: readonly string[]): Promise<RawEvent | null> {
    const open = () =>
      this.reader.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: NEWEST_AMONG });
    for await (const raw of this.drain(open, '$all')) {
      if (prefixes.some((prefix) => raw.stream.startsWith(prefix))) return raw;
    }
    return null;
  }

  /** Everything after `from` in the streams with one of these prefixes. One life: who follows, resumes. */
  follow(from: Position | null, prefixes: readonly string[], handlers: FeedHandlers): Feed {
    return followAll(this.reader, from, prefixes, handlers);
  }

  async close(): Promise<void> {
    // The client waits for streams to finish, and one that the server ended a moment before never tells it.
    await within(CLOSE_MS, Promise.allSettled([this.writer.dispose(), this.reader.dispose()])).catch(
      () => undefined,
    );
  }

  private inSlot<T>(work: () => Promise<T>): Promise<T> {
    if (this.slots.activeCount + this.slots.pendingCount < APPENDS_IN_FLIGHT) return this.slots(work);
    return new Promise((resolve, reject) => {
      let waits = true;
      const leave = (): void => {
        waits = false;
        clearTimeout(timer);
        this.waiting.delete(giveUp);
      };
      const giveUp = (): void => {
        leave();
        reject(new LogUnavailable('nothing-written'));
      };
      const timer = setTimeout(giveUp, APPEND_TOTAL_MS);
      this.waiting.add(giveUp);
      void this.slots(async () => {
        if (!waits) return;
        leave();
        await work().then(resolve, reject);
      });
    });
  }

  private async appendWithRetries(
    stream: string,
    events: readonly EncodedEvent[],
    expected: ExpectedRevision,
    deadline: number,
  ): Promise<AppendOutcome> {
    const batch = events.map((event) =>
      jsonEvent({ id: event.id, type: event.type, data: event.data, metadata: { ...event.metadata } }),
    );
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(pause * 2, 1_000)) {
      const begun = performance.now();
      try {
        return await this.attempt(stream, batch, expected, Math.min(ATTEMPT_MS, deadline - begun));
      } catch (error) {
        const type = typeOf(error);
        if (type === 'wrong-expected-version') {
          this.outage.succeeded();
          return { outcome: 'conflict' };
        }
        if (type === 'stream-deleted') throw new StreamTombstoned(stream);
        if (type === 'maximum-append-size-exceeded') throw new AppendTooLarge(sizeOf(events));
        if (!isPassing(error)) throw error;
        this.outage.failed(begun);
        if (performance.now() + pause >= deadline) throw new LogUnavailable('unknown', error);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  private async attempt(
    stream: string,
    batch: EventData[],
    expected: ExpectedRevision,
    milliseconds: number,
  ): Promise<AppendOutcome> {
    const options: AppendToStreamOptions = {
      expectedRevision: expected === 'no-stream' ? NO_STREAM : expected,
      deadline: milliseconds,
    };
    const { writer } = this;
    const appending = writer.appendToStream(stream, batch, options);
    const result = await within(milliseconds, appending).catch((error: unknown) => {
      if (isKeptByClient(error)) this.replace(writer);
      throw error;
    });
    this.outage.succeeded();
    const position = await this.positionOf(stream, result);
    return { outcome: 'appended', revision: result.nextExpectedRevision, position };
  }

  /** Many appends fail with one answer: the first of them replaces the client that keeps it. */
  private replace(writer: EventStoreDBClient): void {
    if (this.writer !== writer) return;
    this.writer = EventStoreDBClient.connectionString`${this.connectionString}`;
    void writer.dispose().catch(() => undefined);
  }

  private async positionOf(stream: string, result: AppendResult): Promise<Position> {
    if (result.position) return result.position.commit;
    try {
      for await (const raw of this.read(stream, { from: result.nextExpectedRevision, limit: 1 }))
        return raw.position;
    } catch (error) {
      // Written it is; who is told that nothing was would write it twice.
      throw new LogUnavailable('unknown', error);
    }
    throw new LogUnavailable('unknown');
  }

  private async *drain(open: () => StreamingRead<ResolvedEvent>, stream: string): AsyncGenerator<RawEvent> {
    this.outage.begin();
    const begun = performance.now();
    const source = open();
    // A read has no deadline of its own: a silent peer would hold it for ever.
    const stalled = setTimeout(() => source.destroy(new LogUnavailable('nothing-written')), READ_IDLE_MS);
    try {
      for await (const resolved of source.iterator({
        destroyOnReturn: false,
      }) as AsyncIterable<ResolvedEvent>) {
        stalled.refresh();
        this.outage.succeeded();
        const raw = toRawEvent(resolved);
        if (raw) yield raw;
      }
      this.outage.succeeded();
    } catch (error) {
      const type = typeOf(error);
      if (type === 'stream-not-found') return this.outage.succeeded();
      if (type === 'stream-deleted') throw new StreamTombstoned(stream);
      if (isPassing(error) || error instanceof LogUnavailable) this.outage.failed(begun);
      throw isPassing(error) ? new LogUnavailable('nothing-written', error) : error;
    } finally {
      clearTimeout(stalled);
      this.outage.end();
      // Leaving the loop early does not end the call on the server. What the call has received by then must be read all
      // the same: the client keeps a call that never reached its end for ever, and waits for it when it is disposed of.
      source.on('error', () => undefined);
      await source.cancel();
      source.resume();
    }
  }
}

function sizeOf(events: readonly EncodedEvent[]): number {
  return events.reduce((sum, event) => sum + event.bytes, 0);
}

function typeOf(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'type' in error && typeof error.type === 'string'
    ? error.type
    : null;
}
