import { setTimeout as delay } from 'node:timers/promises';

export interface Limits {
  /** Milliseconds after which the wait fails; 5000 when not given. */
  readonly within?: number;
  /** Milliseconds between two looks; 20 when not given. */
  readonly every?: number;
}

/**
 * Looks until `check` gives something other than undefined, null or false, and returns that. Past the limit it fails,
 * naming what was waited for and the last error that `check` threw, if it threw.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  limits: Limits = {},
): Promise<T> {
  const { within = 5_000, every = 20 } = limits;
  const deadline = performance.now() + within;
  let last: unknown;
  for (;;) {
    try {
      const found = await check();
      if (found !== undefined && found !== null && found !== false) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline) {
      throw new Error(
        `gave up after ${within} ms waiting for ${what}`,
        last === undefined ? {} : { cause: last },
      );
    }
    await delay(every);
  }
}
