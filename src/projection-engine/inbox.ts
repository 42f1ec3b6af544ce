import type { Position } from '../event-store/position.js';
import type { RawEvent } from '../event-store/recorded-event.js';
import type { Scheduler } from './scheduler.js';

/** What a subscription has delivered and no transaction has taken yet. */
export interface Batch {
  readonly events: readonly RawEvent[];
  readonly upTo: Position;
}

/**
 * Keeps events and passed positions in the order in which they came, so that a position is stored only after
 * everything received before it.
 */
export class Inbox {
  private events: RawEvent[] = [];
  private passed: Position | null = null;
  private wake: (() => void) | null = null;
  /** Somebody stirred while nobody waited. */
  private stirred = false;
  /** How many events who waits is waiting for. */
  private wanted = 1;

  constructor(private readonly scheduler: Scheduler) {}

  get size(): number {
    return this.events.length;
  }

  get first(): RawEvent | null {
    return this.events[0] ?? null;
  }

  add(event: RawEvent): void {
    this.events.push(event);
    this.passed = event.position;
    if (this.size >= this.wanted) this.stir();
  }

  /** Everything received so far lies at or before `position`. */
  pass(position: Position): void {
    if (this.passed === null || position > this.passed) this.passed = position;
    if (this.wanted <= 1) this.stir();
  }

  /** Wakes who waits, with or without something to take. */
  stir(): void {
    if (this.wake) this.wake();
    else this.stirred = true;
    this.wake = null;
  }

  /** The stretch of the log that waits here: positions grow with the bytes that are written. */
  get span(): bigint {
    const first = this.events[0];
    const last = this.events.at(-1);
    return first && last ? last.position - first.position : 0n;
  }

  /** At most `limit` events over at most `span` of the log, but always one. */
  take(limit: number, span: bigint): Batch | null {
    if (this.passed === null) return null;
    const events = this.events.splice(0, this.countWithin(limit, span));
    const last = events.at(-1);
    const upTo = this.events.length === 0 || !last ? this.passed : last.position;
    if (this.events.length === 0) this.passed = null;
    return { events, upTo };
  }

  private countWithin(limit: number, span: bigint): number {
    if (this.span <= span) return limit;
    const start = this.events[0]?.position ?? 0n;
    const beyond = this.events.findIndex(({ position }) => position - start > span);
    return Math.min(limit, Math.max(1, beyond));
  }

  /** Returns at once when there is something to take, or when somebody has stirred since the last time. */
  async filled(): Promise<void> {
    const stirred = this.stirred;
    this.stirred = false;
    if (this.passed !== null || stirred) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
  }

  /** Waits for `count` events, but no longer than `milliseconds`, and no longer than until somebody stirs. */
  async gather(count: number, milliseconds: number): Promise<void> {
    if (this.size >= count) return;
    this.wanted = count;
    await new Promise<void>((resolve) => {
      const callOff = this.scheduler.after(milliseconds, resolve);
      this.wake = () => {
        callOff();
        resolve();
      };
    });
    this.wake = null;
    this.wanted = 1;
  }
}
