import { LRUCache } from 'lru-cache';

/** A quarter either way, so that what failed together is not tried together. */
const JITTER = 0.25;
/** What was not tried again this long after its time is not owed any more. */
const FORGOTTEN_MS = 10_000;

export interface BackOffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** How many names are remembered; a forgotten one is tried at once. */
  readonly names: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly chance: () => number;
}

interface Attempts {
  readonly pause: number;
  readonly again: number;
  readonly failures: number;
}

/** What was tried in vain is tried again after ever longer pauses, each name by itself. */
export class BackOff {
  private readonly attempts: LRUCache<string, Attempts>;

  constructor(private readonly options: BackOffOptions) {
    this.attempts = new LRUCache({ max: options.names });
  }

  isDue(name: string): boolean {
    const known = this.attempts.get(name);
    return !known || this.options.now() >= known.again;
  }

  failed(name: string): void {
    const failures = (this.attempts.get(name)?.failures ?? 0) + 1;
    this.pause(name, failures);
  }

  /** Until what was done shows, nothing is done again. */
  done(name: string): void {
    this.pause(name, 0);
  }

  forgetAll(): void {
    this.attempts.clear();
  }

  /** How many names failed the last time they were tried, and still are to be tried again. */
  get failing(): number {
    const earliest = this.options.now() - FORGOTTEN_MS;
    return [...this.attempts.values()].filter(({ failures, again }) => failures > 0 && again > earliest)
      .length;
  }

  private pause(name: string, failures: number): void {
    const { firstMs, longestMs, now, chance } = this.options;
    const pause = Math.min(firstMs * 2 ** Math.max(failures - 1, 0), longestMs);
    const spread = 1 - JITTER + chance() * 2 * JITTER;
    this.attempts.set(name, { pause, again: now() + pause * spread, failures });
  }
}
