import { decodeRecordedEvent, withStructuredId } from '../protocol/recorded-event.js';
import type { ReadEvent } from '../protocol/read-response.js';
import type { EventLog } from '../storage/event-log.js';
import type { LogRecord } from '../storage/record-table.js';

const LINK_TYPE = Buffer.from('$>');
const LINK_TARGET = /^(\d{1,19})@(.+)$/s;

/** Turns a record into what this reader asked for: links followed or not, ids as text or as two numbers. */
export class EventPresenter {
  private linkType: bigint | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly options: { readonly resolveLinks: boolean; readonly structuredIds: boolean },
  ) {}

  present(record: LogRecord): ReadEvent {
    const { position } = record;
    if (!this.options.resolveLinks || !this.isLink(record)) {
      return { event: this.bytes(record), link: undefined, position };
    }
    const target = this.targetOf(record);
    return {
      event: target === undefined ? undefined : this.bytes(target),
      link: this.bytes(record),
      position,
    };
  }

  private bytes(record: LogRecord): Buffer {
    return this.options.structuredIds ? withStructuredId(record.bytes) : record.bytes;
  }

  private isLink(record: LogRecord): boolean {
    this.linkType ??= this.log.types.find(LINK_TYPE);
    return record.type === this.linkType;
  }

  /** The data of a link is `revision@stream`. A target that is deleted or truncated is not there. */
  private targetOf(link: LogRecord): LogRecord | undefined {
    const match = LINK_TARGET.exec(decodeRecordedEvent(link.bytes).data.toString('utf8'));
    if (match?.[1] === undefined || match[2] === undefined) return undefined;
    const found = this.log.states.readable(Buffer.from(match[2], 'utf8'));
    const revision = BigInt(match[1]);
    if (found.kind !== 'readable' || revision < found.first || revision > found.last) return undefined;
    return this.log.records.atRevision(found.id, revision);
  }
}
