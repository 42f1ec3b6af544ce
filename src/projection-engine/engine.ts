import type { AnyProjection } from '../../projections/projection-set.js';
import type { Database } from '../database/database.js';
import type { EventLog } from '../event-store/event-log.js';
import type { EventRegistry } from '../event-store/event-registry.js';
import type { Feed } from '../event-store/feed.js';
import type { StreamNames } from '../event-store/stream-names.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { BatchApplier } from './batch-applier.js';
import type { CheckpointWatch } from './checkpoint-watch.js';
import { Inbox } from './inbox.js';
import { Ownership, RENEW_MS } from './ownership.js';
import { parkedStreams } from './parking.js';
import { Fenced, SetWriter } from './set-writer.js';
import { NOTHING_APPLIED } from './set-schema.js';

const BATCH_EVENTS = 2_000;
/** The subscription is paused above and resumed below: memory stays bounded while Postgres is slower than the log. */
const INBOX_HIGH = 8_000;
const INBOX_LOW = 2_000;
const STAND_BY_MS = 500;
const FIRST_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 5_000;

export interface EngineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EngineOptions {
  readonly log: EventLog;
  readonly database: Database;
  readonly registry: EventRegistry;
  readonly names: StreamNames;
  readonly projections: readonly AnyProjection[];
  readonly setVersion: string;
  readonly nodeId: string;
  readonly watch: CheckpointWatch;
  readonly faults: FaultPoints;
  readonly logger: EngineLog;
}

export type EngineState = 'standing-by' | 'catching-up' | 'live' | 'recovering' | 'stopped';

/**
 * Feeds the set from the log. One life of the engine: own the set, connect, follow from the committed checkpoint,
 * apply batches. Whatever goes wrong ends the life; the next one starts from what was committed.
 */
export class ProjectionEngine {
  private readonly ownership: Ownership;
  private running: Promise<void> = Promise.resolve();
  private stopping = false;
  private nudge: () => void = () => undefined;
  private current: EngineState = 'standing-by';
  private ownedListeners: ((owned: boolean) => void)[] = [];

  constructor(private readonly options: EngineOptions) {
    this.ownership = new Ownership(options.database, options.setVersion, options.nodeId);
  }

  get state(): EngineState {
    return this.current;
  }

  /** Told when this node begins and ends to own the set; reactors run only in between. */
  onOwnership(listener: (owned: boolean) => void): void {
    this.ownedListeners.push(listener);
  }

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.nudge();
    await this.running;
    this.current = 'stopped';
  }

  private async run(): Promise<void> {
    let backOff = FIRST_BACK_OFF_MS;
    while (!this.stopping) {
      try {
        const epoch = await this.ownership.acquire();
        if (epoch === null) {
          this.current = 'standing-by';
          await this.pause(STAND_BY_MS);
          continue;
        }
        const appliedSomething = await this.live(epoch);
        if (appliedSomething) backOff = FIRST_BACK_OFF_MS;
      } catch (error) {
        this.options.logger.warn({ err: error }, 'the projection engine starts over');
      }
      if (this.stopping) return;
      this.current = 'recovering';
      await this.pause(backOff * (0.5 + Math.random()));
      backOff = Math.min(backOff * 2, MAX_BACK_OFF_MS);
    }
  }

  private async live(epoch: bigint): Promise<boolean> {
    const inbox = new Inbox();
    let lost: Error | null = null;
    let end: (error: Error) => void = () => undefined;
    const over = new Promise<never>((_, reject) => (end = reject));
    over.catch(() => undefined);
    const lose = (error: Error): void => {
      lost ??= error;
      end(error);
      inbox.stir();
    };
    this.nudge = () => inbox.stir();
    const renewals = setInterval(() => void this.renew(epoch, lose), RENEW_MS);
    const { database, setVersion, projections, faults } = this.options;
    const writer = await SetWriter.connect({
      url: database.url,
      setVersion,
      epoch,
      projections,
      faults,
      lost: lose,
    }).catch((error: unknown) => {
      clearInterval(renewals);
      throw error;
    });
    let feed: Feed | null = null;
    let applied = 0;
    try {
      const checkpoint = await writer.checkpoint();
      feed = this.follow(checkpoint, inbox, lose);
      const applier = await this.applierFor(writer);
      this.tellOwnership(true);
      for (;;) {
        if (!this.stopping && !lost) await inbox.filled();
        if (this.stopping) return applied > 0;
        if (lost) throw lost;
        const batch = inbox.take(BATCH_EVENTS);
        if (!batch) continue;
        // A write that never settles must not outlive its connection, or this node would renew for ever and feed nothing.
        await Promise.race([applier.apply(batch.events, batch.upTo), over]);
        applied += batch.events.length;
        database.succeeded();
        this.options.watch.advance(batch.upTo);
        if (inbox.size < INBOX_LOW) feed.resume();
      }
    } finally {
      clearInterval(renewals);
      this.tellOwnership(false);
      await feed?.stop();
      await writer.close();
      await this.ownership.release(epoch).catch(() => undefined);
    }
  }

  private follow(checkpoint: bigint, inbox: Inbox, lose: (error: Error) => void): Feed {
    this.current = 'catching-up';
    const from = checkpoint === NOTHING_APPLIED ? null : checkpoint;
    const feed: Feed = this.options.log.follow(from, this.options.names.projected(), {
      event: (raw) => {
        inbox.add(raw);
        if (inbox.size > INBOX_HIGH) feed.pause();
      },
      passed: (position) => inbox.pass(position),
      caughtUp: () => {
        this.current = 'live';
      },
    });
    void feed.ended.then((reason) => {
      if (reason) lose(reason);
    });
    return feed;
  }

  private async applierFor(writer: SetWriter): Promise<BatchApplier> {
    const { registry, names, logger, database, setVersion } = this.options;
    const parked = await parkedStreams(database, setVersion);
    return new BatchApplier(writer, registry, names, parked, ({ stream, revision, eventType, reason }) => {
      logger.warn({ stream, revision: revision.toString(), eventType, reason }, 'a stream is parked');
    });
  }

  private async renew(epoch: bigint, lose: (error: Error) => void): Promise<void> {
    try {
      if (!(await this.ownership.renew(epoch))) lose(new Fenced());
    } catch {
      // An outage ends no ownership by itself: the commit checks the epoch.
    }
  }

  private tellOwnership(owned: boolean): void {
    for (const listener of this.ownedListeners) listener(owned);
  }

  private async pause(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.nudge = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
