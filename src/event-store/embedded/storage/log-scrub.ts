import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import type { EventLog } from './event-log.js';
import { LogVerification } from './log-verification.js';

/** What a start may spend on checking: a small log is checked whole, a large one begins with its newest part. */
const START_BUDGET_MS = 100;
/** When a start waits for the whole check. */
const LONG_SLICE_MS = 50;
/** In the background: this much work, then a pause, so that the check takes a tenth of one core. */
const SLICE_MS = 4;
const PAUSE_MS = 36;

/** Checks the whole log once per start without making the start wait for it. */
export class LogScrub {
  private readonly verification: LogVerification;
  private timer: NodeJS.Timeout | undefined;
  private report: (error: Error) => void = () => undefined;

  /** Resolves when damage is found in the background. */
  readonly damaged = new Promise<Error>((resolve) => {
    this.report = resolve;
  });

  constructor(
    log: EventLog,
    private readonly startBudgetMs = START_BUDGET_MS,
  ) {
    this.verification = new LogVerification(log);
  }

  /** Throws `DamagedLogError`. */
  checkNewest(): void {
    this.verification.runFor(this.startBudgetMs, () => performance.now());
  }

  /** Takes as long as it takes, telling which part is done. Throws `DamagedLogError`. */
  async checkEverything(onPart: (part: number) => void): Promise<void> {
    while (!this.verification.done) {
      this.verification.runFor(LONG_SLICE_MS, () => performance.now());
      onPart(this.verification.part);
      await setImmediate();
    }
  }

  continueInBackground(): void {
    if (this.verification.done) return;
    this.timer = setTimeout(() => {
      try {
        this.verification.runFor(SLICE_MS, () => performance.now());
        this.continueInBackground();
      } catch (error) {
        this.report(error instanceof Error ? error : new Error(String(error)));
      }
    }, PAUSE_MS);
    this.timer.unref();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
