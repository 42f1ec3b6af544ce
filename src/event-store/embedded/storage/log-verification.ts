import { LRUCache } from 'lru-cache';
import type { EventLog } from './event-log.js';
import { DamagedLogError } from './checksum.js';
import { errorCode } from './database.js';
import type { NameTable } from './name-table.js';
import { FIRST_POSITION } from './record-table.js';

const SLICE_BYTES = 64n * 1024n;
const SLICE_RECORDS = 256;
/** Names that need not be proved again soon: neighbours in the log share streams and types. */
const PROVED_NAMES = 10_000;

/**
 * Walks the log from its newest record to its oldest and proves of each that it is whole, follows its
 * predecessor without a gap, is what the stream index points at, and that its names are found by readers.
 */
export class LogVerification {
  private end: bigint;
  private readonly streams: ProvedNames;
  private readonly types: ProvedNames;

  constructor(private readonly log: EventLog) {
    this.end = log.head;
    this.streams = new ProvedNames(log.streams);
    this.types = new ProvedNames(log.types);
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
      const { records } = this.log;
      for (const record of records.windowBackwards(this.end, SLICE_BYTES, SLICE_RECORDS)) {
        if (records.positionOf(record.stream, record.revision) !== record.position) {
          throw new DamagedLogError(`the index does not point at the record at position ${record.position}`);
        }
        this.streams.prove(record.stream);
        this.types.prove(record.type);
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

class ProvedNames {
  private readonly proved = new LRUCache<bigint, true>({ max: PROVED_NAMES });

  constructor(private readonly names: NameTable) {}

  prove(id: bigint): void {
    if (this.proved.get(id) === true) return;
    this.names.prove(id);
    this.proved.set(id, true);
  }
}

/** Each row gets a key that no other has: a constraint is met only where an index does not show what is there. */
const DAMAGE = ['SQLITE_NOTADB', 'SQLITE_CORRUPT', 'SQLITE_CONSTRAINT'];

/** The storage engine's own findings, in our words; any other error as it is. */
export function asDamage(error: unknown, place: string): unknown {
  const code = errorCode(error);
  if (code === undefined || !DAMAGE.some((found) => code.startsWith(found))) return error;
  return new DamagedLogError(`${place} (${error instanceof Error ? error.message : code})`);
}
