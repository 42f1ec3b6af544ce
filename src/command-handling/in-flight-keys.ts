import { refuse, type Refusal } from '../refusal.js';
import type { CommandKey } from '../event-store/recorded-event.js';

/** How long a request waits for its twin (`api.md` 1). */
const WAIT_MS = 10_000;

/** Lets one request at a time through for each key of this process; the log keeps twins on other nodes apart. */
export class InFlightKeys {
  private readonly running = new Map<string, Promise<unknown>>();

  async alone<T>(keys: readonly CommandKey[], work: () => Promise<T>): Promise<T | Refusal> {
    const names = keys.map(({ key }) => key);
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const twin = names.map((name) => this.running.get(name)).find((found) => found !== undefined);
      if (!twin) break;
      if (!(await settledBy(twin, deadline - performance.now()))) {
        return refuse('idempotency_in_progress', 'The same request is still being carried out.');
      }
    }
    const running = work();
    for (const name of names) this.running.set(name, running);
    try {
      return await running;
    } finally {
      for (const name of names) this.running.delete(name);
    }
  }
}

async function settledBy(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, milliseconds));
  });
  const settled = work.then(
    () => true,
    () => true,
  );
  const outcome = await Promise.race([settled, limit]);
  clearTimeout(timer);
  return outcome;
}
