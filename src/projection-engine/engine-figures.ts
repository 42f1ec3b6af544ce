import type { Position } from '../event-store/position.js';
import type { Batch } from './inbox.js';
import type { LogPlace } from './ports.js';
import type { Scheduler } from './scheduler.js';
import { NOTHING_APPLIED } from './set-schema.js';

const RATE_SECONDS = 10;

/** How the owner of a set is getting on. Gap is told in events, lag in time; both are 0 when nothing waits. */
export interface Figures {
  readonly checkpoint: Position;
  /** Milliseconds since the checkpoint last moved in this owner's hands; null before. */
  readonly checkpointAge: number | null;
  /** Events in the log that are not in the read models. */
  readonly gap: number;
  /** The log has more than was received: what is missing was estimated from its bytes. */
  readonly gapEstimated: boolean;
  /** Milliseconds by which the read models are older than the log. */
  readonly lag: number;
  /** Milliseconds for which something has been waiting while the checkpoint did not move. */
  readonly standstill: number;
  /** Events per second, over the last ten. */
  readonly rate: number;
  readonly lastBatch: { readonly events: number; readonly milliseconds: number } | null;
  /** How often this node had to start over. */
  readonly retries: number;
  /** Events of types that mean nothing (any more), by this node since its start. */
  readonly passedOver: number;
}

/** Keeps them, at the cost of a few assignments for each event. */
export class EngineFigures {
  private checkpoint: Position = NOTHING_APPLIED;
  private movedAt: number | null = null;
  /** The oldest event that was received and is not applied. */
  private oldest: LogPlace | null = null;
  private received: LogPlace | null = null;
  private head: LogPlace | null = null;
  private receivedCount = 0;
  private appliedCount = 0;
  /** The stretch of the log that this life has applied. */
  private appliedSpan = 0n;
  private waitingSince: number | null = null;
  private lastBatch: Figures['lastBatch'] = null;
  private retries = 0;
  private readonly passedOverOf = new Map<string, number>();
  /** One for each second, which the first number names. */
  private readonly seconds: [number, number][] = [];

  constructor(private readonly scheduler: Scheduler) {}

  /** Another life begins at what is committed. */
  restart(checkpoint: Position): void {
    this.checkpoint = checkpoint;
    this.movedAt = this.waitingSince = null;
    this.oldest = this.received = this.head = null;
    this.receivedCount = this.appliedCount = 0;
    this.appliedSpan = 0n;
  }

  retried(): void {
    this.retries += 1;
  }

  /** Says how many of this type there were by now. */
  passedOver(type: string): number {
    const count = (this.passedOverOf.get(type) ?? 0) + 1;
    this.passedOverOf.set(type, count);
    return count;
  }

  eventReceived(event: LogPlace): void {
    this.received = event;
    this.oldest ??= event;
    this.receivedCount += 1;
    this.waitingSince ??= this.scheduler.now();
  }

  /** The newest event of the log, as somebody has just looked. */
  headSeen(newest: LogPlace | null): void {
    this.head = newest;
    if (newest && newest.position > this.checkpoint) this.waitingSince ??= this.scheduler.now();
  }

  /** `begun`: when the batch was taken, on the scheduler's clock. `next`: what waits now. */
  committed({ events, upTo }: Batch, begun: number, next: LogPlace | null): void {
    const now = this.scheduler.now();
    if (upTo > this.checkpoint) {
      this.appliedSpan += upTo - (this.checkpoint === NOTHING_APPLIED ? 0n : this.checkpoint);
      this.checkpoint = upTo;
      this.movedAt = now;
    }
    this.oldest = next;
    this.appliedCount += events.length;
    this.waitingSince = this.waits() ? begun : null;
    if (events.length > 0) this.lastBatch = { events: events.length, milliseconds: now - begun };
    this.count(Math.floor(now / 1_000), events.length);
  }

  snapshot(): Figures {
    const now = this.scheduler.now();
    const unreceived = this.unreceivedEvents();
    return {
      checkpoint: this.checkpoint,
      checkpointAge: this.movedAt === null ? null : now - this.movedAt,
      gap: this.receivedCount - this.appliedCount + unreceived,
      gapEstimated: unreceived > 0,
      lag: this.lagAt(now),
      standstill:
        this.waitingSince === null ? 0 : now - Math.max(this.waitingSince, this.movedAt ?? this.waitingSince),
      rate: this.rateAt(Math.floor(now / 1_000)),
      lastBatch: this.lastBatch,
      retries: this.retries,
      passedOver: [...this.passedOverOf.values()].reduce((sum, count) => sum + count, 0),
    };
  }

  private waits(): boolean {
    return this.oldest !== null || (this.head !== null && this.head.position > this.checkpoint);
  }

  /** By the log's clock between two of its events, by this process's for what just waits: never across both clocks. */
  private lagAt(now: number): number {
    if (this.waitingSince === null) return 0;
    const newest = newer(this.head, this.received);
    const inLog = newest && this.oldest ? newest.recordedAt - this.oldest.recordedAt : 0;
    return Math.max(inLog, now - this.waitingSince);
  }

  private unreceivedEvents(): number {
    const reached = this.received?.position ?? this.checkpoint;
    if (this.head === null || this.head.position <= reached) return 0;
    if (this.appliedCount === 0 || this.appliedSpan === 0n) return 1;
    const bytes = Number(this.head.position - reached);
    return Math.max(1, Math.round((bytes * this.appliedCount) / Number(this.appliedSpan)));
  }

  private count(second: number, events: number): void {
    const last = this.seconds.at(-1);
    if (last?.[0] === second) last[1] += events;
    else this.seconds.push([second, events]);
    if (this.seconds.length > RATE_SECONDS) this.seconds.shift();
  }

  /** Of whole seconds: the one that is going on is not over. */
  private rateAt(second: number): number {
    const events = this.seconds
      .filter(([at]) => at < second && at >= second - RATE_SECONDS)
      .reduce((sum, [, count]) => sum + count, 0);
    return events / RATE_SECONDS;
  }
}

function newer(one: LogPlace | null, other: LogPlace | null): LogPlace | null {
  if (!one || !other) return one ?? other;
  return one.position > other.position ? one : other;
}
