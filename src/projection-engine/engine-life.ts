import type { Feed } from '../event-store/feed.js';
import type { Position } from '../event-store/position.js';
import { BatchApplier } from './batch-applier.js';
import type { EngineOptions } from './engine.js';
import { Inbox } from './inbox.js';
import { RENEW_MS } from './ownership.js';
import { ParkedRetries } from './parked-retries.js';
import { NOTHING_APPLIED } from './set-schema.js';
import { Fenced, SetWriter } from './set-writer.js';

const BATCH_EVENTS = 2_000;
/**
 * While so many appends are under way a batch waits a moment for their events, since a transaction costs more than a
 * row. A lone command never waits.
 */
const LOADED_APPENDS = 8;
const LINGER_EVENTS = 32;
const LINGER_MS = 2;
/** The subscription is paused above and resumed below: memory stays bounded while Postgres is slower than the log. */
const INBOX_HIGH = 8_000;
const INBOX_LOW = 2_000;
/** The same by bytes of the log, for events as large as they may be. */
const INBOX_HIGH_SPAN = 64n * 1024n * 1024n;
const INBOX_LOW_SPAN = 16n * 1024n * 1024n;
const BATCH_SPAN = 16n * 1024n * 1024n;

/** One span of owning the set under one epoch: from the committed checkpoint until something goes wrong or it is stopped. */
export class EngineLife {
  private readonly inbox: Inbox;
  private lost: Error | null = null;
  private end: (error: Error) => void = () => undefined;
  private readonly over = new Promise<never>((_, reject) => (this.end = reject));
  private stopped = false;
  /** Of what was last received and of what was last committed. */
  private received = NOTHING_APPLIED;
  private committed = NOTHING_APPLIED;
  /** What had been received when the log said that there was no more; null before and after. */
  private headSeenAt: Position | null = null;
  /** Events applied so far. */
  applied = 0;

  constructor(
    private readonly options: EngineOptions,
    private readonly epoch: bigint,
    private readonly tell: {
      readonly caughtUp: () => void;
      readonly owned: (owned: boolean) => void;
      /** An event of a type that means nothing (any more). */
      readonly passedOver: (type: string) => void;
    },
  ) {
    this.inbox = new Inbox(options.scheduler);
    // Most lives end while nothing waits for it.
    this.over.catch(() => undefined);
  }

  stop(): void {
    this.stopped = true;
    this.inbox.stir();
  }

  /** Returns after `stop`; throws whatever ends the life otherwise. */
  async live(): Promise<void> {
    const endRenewals = this.options.scheduler.every(RENEW_MS, () => void this.renew());
    let writer: SetWriter | null = null;
    let feed: Feed | null = null;
    try {
      writer = await this.connect();
      const checkpoint = await writer.checkpoint();
      this.options.watch.restart(checkpoint);
      feed = this.follow(checkpoint);
      const parked = await this.parkedFor(writer);
      const retries = new ParkedRetries({
        ...this.options,
        writer,
        parked,
        passedOver: this.tell.passedOver,
      });
      this.options.parking.onRequest(() => this.inbox.stir());
      this.tell.owned(true);
      await this.applyAll(this.applierFor(writer, parked), retries, feed, writer);
    } finally {
      endRenewals();
      this.options.parking.onRequest(() => undefined);
      this.tell.owned(false);
      await feed?.stop();
      await writer?.close();
      await this.options.lease.release(this.epoch).catch(() => undefined);
    }
  }

  private async applyAll(
    applier: BatchApplier,
    retries: ParkedRetries,
    feed: Feed,
    writer: SetWriter,
  ): Promise<void> {
    for (;;) {
      if (!this.stopped && !this.lost && !retries.isDue) await this.inbox.filled();
      if (this.options.log.appendsInFlight >= LOADED_APPENDS)
        await this.inbox.gather(LINGER_EVENTS, LINGER_MS);
      if (this.stopped) return;
      this.throwIfLost();
      const batch = this.inbox.take(BATCH_EVENTS, BATCH_SPAN);
      if (batch) {
        // A write that never settles must not outlive its connection, or this node would renew for ever and feed nothing.
        await Promise.race([applier.apply(batch.events, batch.upTo), this.over]);
        this.applied += batch.events.length;
        this.committed = batch.upTo;
        this.options.watch.advance(batch.upTo);
      }
      await this.tellWhenCaughtUp(writer);
      await Promise.race([retries.step(this.committed), this.over]);
      if (this.inbox.size < INBOX_LOW && this.inbox.span < INBOX_LOW_SPAN) feed.resume();
    }
  }

  /** The head was seen and everything received before it is committed. */
  private async tellWhenCaughtUp(writer: SetWriter): Promise<void> {
    if (this.headSeenAt === null || this.committed < this.headSeenAt) return;
    this.headSeenAt = null;
    await writer.markFilled();
    this.options.watch.markFilled();
    this.tell.caughtUp();
  }

  private throwIfLost(): void {
    if (this.lost) throw this.lost;
  }

  private lose(error: Error): void {
    this.lost ??= error;
    this.end(error);
    this.inbox.stir();
  }

  private async connect(): Promise<SetWriter> {
    const { store, projections, faults } = this.options;
    const connection = await store.connect(this.epoch, (error) => this.lose(error));
    return new SetWriter(connection, projections, faults);
  }

  private follow(checkpoint: bigint): Feed {
    this.received = this.committed = checkpoint;
    const from = checkpoint === NOTHING_APPLIED ? null : checkpoint;
    const feed: Feed = this.options.log.follow(from, this.options.names.projected(), {
      event: (raw) => {
        this.received = raw.position;
        this.inbox.add(raw);
        if (this.inbox.size > INBOX_HIGH || this.inbox.span > INBOX_HIGH_SPAN) feed.pause();
      },
      passed: (position) => this.inbox.pass(position),
      caughtUp: () => {
        this.headSeenAt = this.received;
        this.inbox.stir();
      },
    });
    void feed.ended.then((reason) => {
      if (reason) this.lose(reason);
    });
    return feed;
  }

  private async parkedFor(writer: SetWriter): Promise<Map<string, Position>> {
    const { store, build, logger } = this.options;
    const again = await writer.takeOver(build);
    if (again > 0)
      logger.info({ build, streams: again }, 'this build retries the streams that another one parked');
    return new Map([...(await store.parkedStreams())].map(([stream, { position }]) => [stream, position]));
  }

  private applierFor(writer: SetWriter, parked: Map<string, Position>): BatchApplier {
    const { registry, names, logger, parking } = this.options;
    return new BatchApplier(
      writer,
      registry,
      names,
      parked,
      (event) => {
        const { stream, revision, eventType, reason } = event;
        parking.parked(event);
        logger.warn({ stream, revision: revision.toString(), eventType, reason }, 'a stream is parked');
      },
      this.tell.passedOver,
    );
  }

  private async renew(): Promise<void> {
    try {
      if (!(await this.options.lease.renew(this.epoch))) this.lose(new Fenced());
    } catch {
      // An outage ends no ownership by itself: the commit checks the epoch.
    }
  }
}
