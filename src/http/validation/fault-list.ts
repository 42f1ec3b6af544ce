import type { DetailEntry } from '../errors.js';

/** An answer stays readable, and bounded, however much is wrong with a body. */
const MAX_FAULTS = 100;

export class FaultList {
  private readonly faults: DetailEntry[] = [];

  get entries(): readonly DetailEntry[] {
    return this.faults;
  }

  get isFull(): boolean {
    return this.faults.length >= MAX_FAULTS;
  }

  add(fault: DetailEntry): void {
    if (!this.isFull) this.faults.push(fault);
  }

  /** Whether something at this place, or inside it, is already told. */
  covers(loc: DetailEntry['loc']): boolean {
    return this.faults.some((fault) => loc.every((step, i) => fault.loc[i] === step));
  }
}
