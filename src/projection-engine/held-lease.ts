import { type Ownership, RENEW_MS } from './ownership.js';
import { Fenced } from './set-writer.js';

/** The ownership of a set by one piece of work: renewed until it is let go of or lost. */
export class HeldLease {
  private readonly lost = new AbortController();
  private readonly renewals: NodeJS.Timeout;

  constructor(
    private readonly ownership: Ownership,
    readonly epoch: bigint,
  ) {
    this.renewals = setInterval(() => void this.renew(), RENEW_MS);
  }

  /** Aborted with `Fenced` once another process owns the set. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  async release(): Promise<void> {
    clearInterval(this.renewals);
    await this.ownership.release(this.epoch).catch(() => undefined);
  }

  private async renew(): Promise<void> {
    // A database that does not answer says nothing of who owns the set; each commit asks again.
    const held = await this.ownership.renew(this.epoch, null).catch(() => true);
    if (!held) this.lost.abort(new Fenced());
  }
}
