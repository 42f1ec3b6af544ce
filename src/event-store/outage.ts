import { LogUnavailable } from './errors.js';

/** Failures over this long, with no success between them, are an outage and no hiccup. */
const KNOWN_AFTER_MS = 5_000;
/** Longer than one attempt: after a pause without any, nothing is known any more. */
const FORGOTTEN_AFTER_MS = 6_000;

/**
 * What the calls to the log tell about it. During a known outage, those under way find out when it is over, and new
 * ones are refused at once: waiting would only keep their clients, in ever longer queues.
 */
export class Outage {
  private failingSince: number | null = null;
  private lastFailure = 0;
  private lastSuccess = -1;
  private trying = 0;

  constructor(
    private readonly whenKnown: () => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get known(): boolean {
    if (this.failingSince === null) return false;
    const now = this.now();
    return now - this.failingSince >= KNOWN_AFTER_MS && now - this.lastFailure < FORGOTTEN_AFTER_MS;
  }

  /** Throws `LogUnavailable` when the log is known to be away and others are already trying. */
  begin(): void {
    if (this.known && this.trying > 0) throw new LogUnavailable('nothing-written');
    this.trying += 1;
  }

  end(): void {
    this.trying -= 1;
  }

  succeeded(): void {
    this.lastSuccess = this.now();
    this.failingSince = null;
  }

  /** `begun`: when the call was made, on the clock of `performance.now`; it says nothing once a later one succeeded. */
  failed(begun: number): void {
    if (begun < this.lastSuccess) return;
    this.failingSince ??= begun;
    this.lastFailure = this.now();
    if (this.known) this.whenKnown();
  }
}
