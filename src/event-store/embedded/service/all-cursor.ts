import type { EventLog } from '../storage/event-log.js';
import type { LogRecord } from '../storage/record-table.js';
import { positionAfter } from '../storage/record-table.js';
import type { CursorFilter } from './cursor-filter.js';

/** What a page holds, in the order in which a reader must see it. */
export type Step =
  | { readonly kind: 'record'; readonly record: LogRecord }
  | { readonly kind: 'checkpoint'; readonly position: bigint };

/** A page is one write to the connection: big enough to be cheap, small enough to be fair. */
export const PAGE_BYTES = 64n * 1024n;
export const PAGE_RECORDS = 512;
/** A page of a stream looks up this many places before it knows how many of them fit. */
export const STREAM_PAGE_RECORDS = 128;

/**
 * Walks the whole log forwards, page by page, from the record at `next`: one that is not there is missing. A start
 * beyond the head is no record's place: it waits for the first record behind it.
 */
export class AllCursor {
  private aligned: boolean;
  private considered: bigint | undefined;
  private sinceCheckpoint = 0;

  constructor(
    private readonly log: EventLog,
    private next: bigint,
    private readonly filter: CursorFilter | undefined,
    /** The last position that counts as seen, if the reader did not begin at the start. */
    seen: bigint | undefined,
  ) {
    this.considered = seen;
    this.aligned = next <= log.head;
  }

  get atHead(): boolean {
    return this.next >= this.log.head;
  }

  /** The position up to which everything was either sent or filtered out. */
  get seen(): bigint | undefined {
    return this.considered;
  }

  page(limit = PAGE_RECORDS): readonly Step[] {
    if (!this.aligned) this.align();
    if (this.atHead) return [];
    return this.filter === undefined ? this.plainPage(limit) : this.filteredPage(this.filter, limit);
  }

  private align(): void {
    if (this.atHead) return;
    const next = this.log.records.next(this.next - 1n) ?? this.log.head;
    this.next = next < this.log.head ? next : this.log.head;
    this.aligned = true;
  }

  /** What lies behind the head may be a write that is not committed. */
  private window(limit: number): LogRecord[] {
    const left = this.log.head - this.next;
    return this.log.records.window(this.next, left < PAGE_BYTES ? left : PAGE_BYTES, limit);
  }

  private plainPage(limit: number): readonly Step[] {
    const records = this.window(Math.min(limit, PAGE_RECORDS));
    for (const last of records.slice(-1)) {
      this.next = positionAfter(last);
      this.considered = last.position;
    }
    return records.map((record) => ({ kind: 'record', record }));
  }

  /** Reads what it passes over, too: a damaged record must not look like one that the filter leaves out. */
  private filteredPage(by: CursorFilter, limit: number): readonly Step[] {
    const records = this.window(PAGE_RECORDS);
    const accepted = by.filter.accepts(
      records.map((record) => (by.on === 'stream-name' ? record.stream : record.type)),
    );
    const steps: Step[] = [];
    let matched = 0;
    for (const [index, record] of records.entries()) {
      if (matched >= limit) break;
      if (accepted[index] === true) {
        steps.push({ kind: 'record', record });
        matched += 1;
      }
      this.next = positionAfter(record);
      this.considered = record.position;
      this.count(by.checkpointInterval, steps);
    }
    return steps;
  }

  private count(interval: number | undefined, steps: Step[]): void {
    this.sinceCheckpoint += 1;
    if (interval === undefined || this.sinceCheckpoint < interval || this.considered === undefined) return;
    steps.push({ kind: 'checkpoint', position: this.considered });
    this.sinceCheckpoint = 0;
  }
}
