import type { EventLog } from './event-log.js';
import { DamagedLogError } from './checksum.js';
import { errorCode } from './database.js';
import { FIRST_POSITION } from './record-table.js';

const SLICE_BYTES = 64n * 1024n;
const SLICE_RECORDS = 256;

/**
 * Walks the log from its newest record to its oldest and proves of each that it is whole, follows its
 * predecessor without a gap, and is what the stream index and the name tables point at.
 */
export class LogVerification {
  private end: bigint;

  constructor(private readonly log: EventLog) {
    this.end = log.head;
  }

  get done(): boolean {
    return this.end <= FIRST_POSITION;
  }

  /** How much is checked, 0 to 1. */
  get part(): number {
    const whole = this.log.head - FIRST_POSITION;
    return whole <= 0n ? 1 : Number(this.log.head - this.end) / Number(whole);
  }

  /** Checks one slice. Throws `DamagedLogError` naming the place. */
  step(): void {
    if (this.done) return;
    try {
      const { records, streams, types } = this.log;
      for (const record of records.windowBackwards(this.end, SLICE_BYTES, SLICE_RECORDS)) {
        if (records.positionOf(record.stream, record.revision) !== record.position) {
          throw new DamagedLogError(`the index does not point at the record at position ${record.position}`);
        }
        streams.nameOf(record.stream);
        types.nameOf(record.type);
        this.end = record.position;
      }
    } catch (error) {
      throw asDamage(error, `the storage before position ${this.end}`);
    }
  }

  /** Steps until the whole log is checked or `milliseconds` have passed by the given clock. */
  runFor(milliseconds: number, clock: () => number): void {
    const until = clock() + milliseconds;
    while (!this.done && clock() < until) this.step();
  }
}

/** The storage engine's own findings, in our words; any other error as it is. */
export function asDamage(error: unknown, place: string): unknown {
  const code = errorCode(error);
  if (code !== 'SQLITE_NOTADB' && code?.startsWith('SQLITE_CORRUPT') !== true) return error;
  return new DamagedLogError(`${place} (${error instanceof Error ? error.message : code})`);
}
