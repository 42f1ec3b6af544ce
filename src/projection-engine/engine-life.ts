import type { Feed } from '../event-store/feed.js';
import type { Position } from '../event-store/position.js';
import { BatchApplier } from './batch-applier.js';
import type { EngineFigures } from './engine-figures.js';
import type { EngineOptions } from './engine.js';
import { HeadWatch } from './head-watch.js';
import { Inbox } from './inbox.js';
import { LEASE_MS, RENEW_MS } from './ownership.js';
import { ParkedRetries } from './parked-retries.js';
import type { LogPlace } from './ports.js';
import { NOTHING_APPLIED } from './set-schema.js';
import { Fenced, SetWriter } from './set-writer.js';

/**
 * While so many appends are under way a batch waits a moment for their events, since a transaction costs more than a
 * row. A lone command never waits.
 */
const LOADED_APPENDS = 8;
const LINGER_EVENTS = 32;
const LINGER_MS = 2;
/** A log or a database that does not answer is left without a good-bye. */
const FAREWELL_MS = 1_000;

export interface LifeListener {
  caughtUp(): void;
  lost(): void;
  owned(owned: boolean): void;
  /** An event of a type that means nothing (any more). */
  passedOver(type: string): void;
}

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
  private ended = false;
  private paused = false;
  private renewing = false;
  private renewedAt: number;
  private caughtUp = false;
  private readonly filling = new AbortController();
  /** Events applied so far. */
  applied = 0;

  constructor(
    private readonly options: EngineOptions,
    private readonly epoch: bigint,
    private readonly figures: EngineFigures,
    private readonly tell: LifeListener,
  ) {
    this.inbox = new Inbox(options.scheduler);
    this.renewedAt = options.scheduler.now();
    // Most lives end while nothing waits for it.
    this.over.catch(() => undefined);
  }

  stop(): void {
    this.stopped = true;
    this.filling.abort();
    this.inbox.stir();
  }

  /** Returns after `stop`; throws whatever ends the life otherwise. */
  async live(): Promise<void> {
    const endRenewals = this.options.scheduler.every(RENEW_MS, () => void this.renew());
    let writer: SetWriter | null = null;
    let feed: Feed | null = null;
    let head: HeadWatch | null = null;
    try {
      await this.fill();
      if (this.stopped) return;
      writer = await this.connect();
      const checkpoint = await this.orLost(writer.checkpoint());
      this.options.watch.restart(checkpoint);
      this.figures.restart(checkpoint);
      feed = this.follow(checkpoint);
      head = this.watchHead();
      const parked = await this.parkedFor(writer);
      const retries = new ParkedRetries({
        ...this.options,
        writer,
        parked,
        passedOver: (type) => this.tell.passedOver(type),
      });
      this.options.parking.onRequest(() => this.inbox.stir());
      this.tell.owned(true);
      await this.applyAll(this.applierFor(writer, parked), retries, feed, writer);
    } finally {
      this.ended = true;
      this.filling.abort();
      endRenewals();
      head?.stop();
      this.options.parking.onRequest(() => undefined);
      this.tell.owned(false);
      // A dead log must not keep the set from the next owner.
      await Promise.all([this.farewell(feed?.stop()), this.letGo(writer)]);
    }
  }

  private async applyAll(
    applier: BatchApplier,
    retries: ParkedRetries,
    feed: Feed,
    writer: SetWriter,
  ): Promise<void> {
    const { limits } = this.options;
    for (;;) {
      if (!this.stopped && !this.lost && !retries.isDue) await this.inbox.filled();
      if (this.options.log.appendsInFlight >= LOADED_APPENDS)
        await this.inbox.gather(LINGER_EVENTS, LINGER_MS);
      if (this.stopped) return;
      this.throwIfLost();
      const batch = this.inbox.take(limits.batchEvents, limits.batchSpan);
      if (batch) {
        const begun = this.options.scheduler.now();
        await this.orLost(applier.apply(batch.events, batch.upTo));
        this.figures.committed(batch, begun, this.inbox.first);
        this.applied += batch.events.length;
        this.committed = batch.upTo;
        this.options.watch.advance(batch.upTo);
      }
      await this.tellWhenCaughtUp(writer);
      await this.orLost(retries.step(this.committed));
      if (this.inbox.size < limits.inboxLow && this.inbox.span < limits.inboxLowSpan) this.resume(feed);
    }
  }

  /** The head was seen and everything received before it is committed. */
  private async tellWhenCaughtUp(writer: SetWriter): Promise<void> {
    if (this.headSeenAt === null || this.committed < this.headSeenAt) return;
    this.headSeenAt = null;
    this.caughtUp = true;
    await this.orLost(writer.markFilled());
    this.options.watch.markFilled();
    this.tell.caughtUp();
  }

  private throwIfLost(): void {
    if (this.lost) throw this.lost;
  }

  private async fill(): Promise<void> {
    try {
      const passedOver = (type: string): void => this.tell.passedOver(type);
      await this.orLost(this.options.fill(this.epoch, this.filling.signal, passedOver));
    } catch (error) {
      if (!this.stopped) throw error;
    }
  }

  private lose(error: Error): void {
    // A call that is answered late: the next life has begun.
    if (this.ended) return;
    this.lost ??= error;
    this.tell.lost();
    this.end(error);
    this.inbox.stir();
  }

  private async connect(): Promise<SetWriter> {
    const { store, projections, faults, limits } = this.options;
    const connecting = store.connect(this.epoch, (error) => this.lose(error));
    try {
      return new SetWriter(await this.orLost(connecting), projections, faults, limits.keptRows);
    } catch (error) {
      void connecting.then(
        (late) => late.close(),
        () => undefined,
      );
      throw error;
    }
  }

  private follow(checkpoint: bigint): Feed {
    this.received = this.committed = checkpoint;
    const from = checkpoint === NOTHING_APPLIED ? null : checkpoint;
    const { limits } = this.options;
    const feed: Feed = this.options.log.follow(from, this.options.names.projected(), {
      event: (raw) => {
        // Delivered again. Taken into a batch it would make the checkpoint say less than the rows hold.
        if (raw.position <= this.received) return;
        this.received = raw.position;
        this.figures.eventReceived(raw);
        this.inbox.add(raw);
        if (this.inbox.size > limits.inboxHigh || this.inbox.span > limits.inboxHighSpan) this.pause(feed);
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
    const again = await this.orLost(writer.takeOver(build));
    if (again > 0)
      logger.info({ build, streams: again }, 'this build retries the streams that another one parked');
    const parked = await this.orLost(store.parkedStreams());
    return new Map([...parked].map(([stream, { position }]) => [stream, position]));
  }

  private applierFor(writer: SetWriter, parked: Map<string, Position>): BatchApplier {
    const { reader, logger, parking } = this.options;
    return new BatchApplier(
      writer,
      reader,
      parked,
      (event) => {
        const { stream, revision, eventType, reason } = event;
        parking.parked(event);
        logger.warn({ stream, revision: revision.toString(), eventType, reason }, 'a stream is parked');
      },
      (type) => this.tell.passedOver(type),
    );
  }

  private pause(feed: Feed): void {
    this.paused = true;
    feed.pause();
  }

  private resume(feed: Feed): void {
    this.paused = false;
    feed.resume();
  }

  private watchHead(): HeadWatch {
    const { log, names, scheduler } = this.options;
    return new HeadWatch({
      log,
      prefixes: names.projected(),
      scheduler,
      received: () => this.received,
      paused: () => this.paused,
      seen: (newest) => this.headSeen(newest),
      lost: (error) => this.lose(error),
    });
  }

  /** A log that says nothing of its own accord, or whose word was lost, has been caught up with all the same. */
  private headSeen(newest: LogPlace | null): void {
    this.figures.headSeen(newest);
    if (this.caughtUp || newest === null || newest.position > this.received) return;
    this.headSeenAt = this.received;
    this.inbox.stir();
  }

  private async renew(): Promise<void> {
    if (this.renewing) return;
    this.renewing = true;
    const { lease, scheduler } = this.options;
    try {
      if (!(await lease.renew(this.epoch, this.figures.snapshot()))) this.lose(new Fenced());
      this.renewedAt = scheduler.now();
    } catch (error) {
      // Short of that it ends no ownership: the commit checks the epoch.
      if (scheduler.now() - this.renewedAt > LEASE_MS) this.lose(error as Error);
    } finally {
      this.renewing = false;
    }
  }

  /** Nothing that never settles may outlive the life, or this node would renew for ever and feed nothing. */
  private orLost<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.over]);
  }

  private async letGo(writer: SetWriter | null): Promise<void> {
    await this.farewell(writer?.close());
    await this.farewell(this.options.lease.release(this.epoch));
  }

  private async farewell(work: Promise<void> | undefined): Promise<void> {
    if (!work) return;
    await new Promise<void>((resolve) => {
      const callOff = this.options.scheduler.after(FAREWELL_MS, resolve);
      void work
        .catch(() => undefined)
        .then(() => {
          callOff();
          resolve();
        });
    });
  }
}
