import type { Position } from '../event-store/position.js';
import type { LogFollower, LogPlace } from './ports.js';
import type { Scheduler } from './scheduler.js';

/** Counted, not timed: a process that stood still finds one late tick, and reads what has come meanwhile before the next. */
const TICK_MS = 250;
/** While nothing comes. */
const TICKS_TO_LOOK = 4;
/** While events come, to say how far the end is. */
const TICKS_TO_LOOK_BUSY = 20;
/** A log that was asked meanwhile and says nothing for longer is lost; a node that stands by follows within 5 s. */
const TICKS_OF_SILENCE = 12;
/** Looks in a row. */
const LOOKS_BEHIND = 3;

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
  /** Since the log was last heard: an event, or an answer. */
  private silent = 0;
  private busy = 0;
  private looks = 0;
  private behind = 0;

  constructor(private readonly options: HeadWatchOptions) {
    this.before = options.received();
    this.end = options.scheduler.every(TICK_MS, () => this.tick());
  }

  stop(): void {
    this.end();
  }

  private tick(): void {
    const { received, paused, lost } = this.options;
    if (received() !== this.before || paused()) {
      this.before = received();
      this.silent = this.behind = 0;
      this.busy += 1;
      if (this.busy % TICKS_TO_LOOK_BUSY === 0) void this.look();
      return;
    }
    this.silent += 1;
    if (this.silent > TICKS_OF_SILENCE) lost(new LogStandstill('the log does not answer'));
    else if (this.silent % TICKS_TO_LOOK === 0) void this.look();
  }

  private async look(): Promise<void> {
    const { log, prefixes, received, paused, seen, lost } = this.options;
    const look = (this.looks += 1);
    const before = received();
    const newest = await log.newest(prefixes).catch(() => undefined);
    if (newest === undefined) return;
    this.silent = 0;
    seen(newest);
    // Answers that were held up come all at once, perhaps before the events that were held up with them: they are one look.
    if (look !== this.looks) return;
    const silent = received() === before && !paused();
    this.behind = silent && newest && newest.position > received() ? this.behind + 1 : 0;
    if (this.behind >= LOOKS_BEHIND)
      lost(new LogStandstill('the subscription brings nothing of what the log has'));
  }
}
