/** What all appends may hold that are not answered yet, before input waits. */
const MOST_WAITING_BYTES = 32 * 1024 * 1024;
/** What all appends may hold of which the end has not come, before one more chunk is refused. */
const MOST_OPEN_BYTES = 256 * 1024 * 1024;

/** The memory of one node for what its clients have sent and what is not in the log yet. */
export class Intake {
  private open = 0;
  private waiting = 0;
  private readonly resume = new Set<() => void>();

  /** True when one more chunk of an unfinished append is too much. */
  get overfull(): boolean {
    return this.open > MOST_OPEN_BYTES;
  }

  /** Counts bytes of an unfinished append; `close` gives them back. */
  hold(bytes: number): void {
    this.open += bytes;
  }

  close(bytes: number): void {
    this.open -= bytes;
  }

  /** Counts bytes until their append is answered. */
  async while<Result>(bytes: number, answered: Promise<Result>): Promise<Result> {
    this.waiting += bytes;
    try {
      return await answered;
    } finally {
      this.waiting -= bytes;
      if (!this.full) {
        for (const resume of this.resume) resume();
        this.resume.clear();
      }
    }
  }

  get full(): boolean {
    return this.waiting > MOST_WAITING_BYTES;
  }

  /** Resolves when input may go on. */
  drained(): Promise<void> {
    return this.full ? new Promise((resolve) => this.resume.add(resolve)) : Promise.resolve();
  }
}
