import { noteDamage } from './damage-note.js';
import { DamagedLogError } from './storage/checksum.js';

const REPEATED_AFTER_MS = 1_000;

/**
 * Takes what goes wrong in a node and is no client's mistake. It becomes a warning of the process; damage is also
 * remembered for the next start. A full disk fails thousands of writes: a message is repeated once a second at most.
 */
export class FaultReports {
  private readonly warned = new Map<string, number>();
  private found: (error: Error) => void = () => undefined;

  /** Resolves with the first damage that is reported. */
  readonly damaged = new Promise<Error>((resolve) => {
    this.found = resolve;
  });

  /** `dir` is undefined for a log in memory. */
  constructor(private readonly dir: string | undefined) {}

  report(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.warn(error);
    if (!(error instanceof DamagedLogError)) return;
    this.found(error);
    if (this.dir === undefined) return;
    try {
      noteDamage(this.dir, error);
    } catch (failure) {
      this.warn(failure instanceof Error ? failure : new Error(String(failure)));
    }
  }

  private warn(error: Error): void {
    const now = performance.now();
    for (const [message, at] of this.warned) if (now - at > REPEATED_AFTER_MS) this.warned.delete(message);
    if (this.warned.has(error.message)) return;
    this.warned.set(error.message, now);
    process.emitWarning(error);
  }
}
