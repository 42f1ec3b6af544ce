/** Tells whoever waits that the log has grown. A waiter is woken once and asks again if it wants more. */
export class CommitSignal {
  private waiters: (() => void)[] = [];

  /** Resolves at the next commit, or when `until` is aborted. */
  next(until: AbortSignal): Promise<void> {
    if (until.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        until.removeEventListener('abort', abandon);
        resolve();
      };
      const abandon = (): void => {
        this.waiters = this.waiters.filter((waiter) => waiter !== wake);
        resolve();
      };
      until.addEventListener('abort', abandon, { once: true });
      this.waiters.push(wake);
    });
  }

  announce(): void {
    const woken = this.waiters;
    this.waiters = [];
    for (const wake of woken) wake();
  }
}
