import { createContext, Script } from 'node:vm';

interface Box {
  work: (() => void) | null;
}

/**
 * Runs work that a stranger shaped, and ends it after `limit` milliseconds, even in the middle of a loop: the one way
 * to do so without a thread. Throws what the work throws, and `ERR_SCRIPT_EXECUTION_TIMEOUT`. It keeps no secrets: the
 * work is our own code, only its input is not.
 */
export class TimeBox {
  private readonly box: Box = { work: null };
  private readonly context = createContext(this.box);
  private readonly script = new Script('work()');

  constructor(private readonly limit: number) {}

  run<T>(work: () => T): T {
    const results: T[] = [];
    this.box.work = () => void results.push(work());
    try {
      this.script.runInContext(this.context, { timeout: this.limit });
    } finally {
      this.box.work = null;
    }
    const [result] = results;
    return result as T;
  }
}
