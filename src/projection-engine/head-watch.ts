import type { Position } from '../event-store/position.js';
import type { LogFollower, LogPlace } from './ports.js';
import type { Scheduler } from './scheduler.js';

const LOOK_MS = 1_000;
/** While events come, only each so manieth time, to say how far the end is. */
const LOOKS_BUSY = 5;
/** Looks in a row, since the process itself may have stood still and found its timers late. */
const LOOKS_BEHIND = 3;
const LOOKS_UNANSWERED = 2;

/** The log has more than its subscription brings, or does not answer at all. */
export class LogStandstill extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'LogStandstill';
  }
}

export interface HeadWatchOptions {
  readonly log: LogFollower;
  readonly prefixes: readonly string[];
  readonly scheduler: Scheduler;
  /** The newest event that the subscription has brought. */
  readonly received: () => Position;
  /** Whether the subscription is held back on purpose. */
  readonly paused: () => boolean;
  readonly seen: (newest: LogPlace | null) => void;
  readonly lost: (error: LogStandstill) => void;
}

/**
 * A subscription whose connection is dead looks like one to which nothing happens. While it is silent, the head of the
 * log is looked at: an owner that gets nothing must not stay owner. While events come it is hardly ever asked.
 */
export class HeadWatch {
  private readonly end: () => void;
  private before: Position;
  private behind = 0;
  private unanswered = 0;
  private busy = 0;
  private looking = false;

  constructor(private readonly options: HeadWatchOptions) {
    this.before = options.received();
    this.end = options.scheduler.every(LOOK_MS, () => void this.look());
  }

  stop(): void {
    this.end();
  }

  private async look(): Promise<void> {
    const { log, prefixes, received, paused, seen } = this.options;
    if (received() !== this.before || paused()) {
      this.before = received();
      this.behind = this.unanswered = 0;
      this.busy += 1;
      if (this.busy % LOOKS_BUSY !== 0) return;
    }
    if (this.looking) return;
    this.looking = true;
    try {
      const newest = await log.newest(prefixes);
      this.unanswered = 0;
      seen(newest);
      const silent = received() === this.before && !paused();
      this.behind = silent && newest && newest.position > received() ? this.behind + 1 : 0;
    } catch {
      this.unanswered += 1;
    } finally {
      this.looking = false;
    }
    this.judge();
  }

  private judge(): void {
    const { lost } = this.options;
    if (this.behind >= LOOKS_BEHIND)
      lost(new LogStandstill('the subscription brings nothing of what the log has'));
    if (this.unanswered >= LOOKS_UNANSWERED) lost(new LogStandstill('the log does not answer'));
  }
}
