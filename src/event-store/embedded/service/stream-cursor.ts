import { streamDeleted } from '../protocol/grpc-error.js';
import type { EventLog } from '../storage/event-log.js';
import type { LogRecord } from '../storage/record-table.js';
import { PAGE_BYTES, STREAM_PAGE_RECORDS } from './all-cursor.js';
import type { Step } from './all-cursor.js';

/** Walks one stream forwards, page by page; the stream may not exist yet, or be deleted on the way. */
export class StreamCursor {
  constructor(
    private readonly log: EventLog,
    private readonly stream: Buffer,
    private next: bigint,
  ) {}

  get atHead(): boolean {
    const found = this.log.states.readable(this.stream);
    return found.kind === 'not-found' || (found.kind === 'readable' && this.next > found.last);
  }

  /** Throws `stream-deleted` when the stream was tombstoned. */
  page(limit = STREAM_PAGE_RECORDS): readonly Step[] {
    const found = this.log.states.readable(this.stream);
    if (found.kind === 'deleted') throw streamDeleted(this.stream);
    if (found.kind === 'not-found' || this.next > found.last) return [];
    const from = this.next > found.first ? this.next : found.first;
    if (from > found.last) {
      this.next = found.last + 1n;
      return [];
    }
    const records = this.log.records.revisions(found.id, from, found.last, {
      direction: 'forwards',
      limit: Math.min(limit, STREAM_PAGE_RECORDS),
      bytes: PAGE_BYTES,
    });
    this.next = from + BigInt(records.length);
    return youngerThan(records, found.maxAgeSeconds, this.log.now()).map((record) => ({
      kind: 'record',
      record,
    }));
  }
}

export function youngerThan(
  records: readonly LogRecord[],
  maxAgeSeconds: number | undefined,
  now: number,
): readonly LogRecord[] {
  if (maxAgeSeconds === undefined) return records;
  const oldest = now - maxAgeSeconds * 1000;
  return records.filter((record) => Number(record.created) >= oldest);
}
