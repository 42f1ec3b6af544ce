/** This process's clock. Leases and expiry never use it: those compare with Postgres' own (design 4). */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

/** The system's clock; tests move its offset through the control socket. */
export class SystemClock implements Clock {
  private offset = 0;

  now(): number {
    return Date.now() + this.offset;
  }

  moveTo(offsetMilliseconds: number): void {
    this.offset = offsetMilliseconds;
  }
}
