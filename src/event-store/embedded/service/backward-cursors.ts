import type { EventLog } from '../storage/event-log.js';
import { FIRST_POSITION } from '../storage/record-table.js';
import type { Step } from './all-cursor.js';
import { PAGE_BYTES, PAGE_RECORDS, STREAM_PAGE_RECORDS } from './all-cursor.js';
import type { CursorFilter } from './cursor-filter.js';
import { youngerThan } from './stream-cursor.js';

/** Walks the log from `end`, which is exclusive, to its start. */
export class AllCursorBackwards {
  private end: bigint;

  constructor(
    private readonly log: EventLog,
    end: bigint,
    private readonly filter: CursorFilter | undefined,
  ) {
    this.end = end > log.head ? log.head : end;
  }

  get atHead(): boolean {
    return this.end <= FIRST_POSITION;
  }

  page(limit: number): readonly Step[] {
    const size = this.filter === undefined ? Math.min(limit, PAGE_RECORDS) : PAGE_RECORDS;
    const records = this.log.records.windowBackwards(this.end, PAGE_BYTES, size);
    const by = this.filter;
    const accepted = by?.filter.accepts(
      records.map((record) => (by.on === 'stream-name' ? record.stream : record.type)),
    );
    const steps: Step[] = [];
    for (const [index, record] of records.entries()) {
      if (steps.length >= limit) break;
      this.end = record.position;
      if (accepted === undefined || accepted[index] === true) steps.push({ kind: 'record', record });
    }
    return steps;
  }
}

/** Walks one stream from `from` down; undefined is its end. */
export class StreamCursorBackwards {
  private next: bigint | undefined;
  private done = false;

  constructor(
    private readonly log: EventLog,
    private readonly stream: Buffer,
    from: bigint | undefined,
  ) {
    this.next = from;
  }

  get atHead(): boolean {
    return this.done;
  }

  page(limit: number): readonly Step[] {
    const found = this.log.states.readable(this.stream);
    if (found.kind !== 'readable') {
      this.done = true;
      return [];
    }
    const from = this.next === undefined || this.next > found.last ? found.last : this.next;
    if (from < found.first) {
      this.done = true;
      return [];
    }
    const records = this.log.records.revisions(found.id, found.first, from, {
      direction: 'backwards',
      limit: Math.min(limit, STREAM_PAGE_RECORDS),
      bytes: PAGE_BYTES,
    });
    this.next = from - BigInt(records.length);
    if (this.next < 0n) this.done = true;
    return youngerThan(records, found.maxAgeSeconds, this.log.now()).map((record) => ({
      kind: 'record',
      record,
    }));
  }
}
