import { randomUUID } from 'node:crypto';
import type { ProposedEvent } from '../protocol/recorded-event.js';
import { decodeRecordedEvent, encodeRecordedEvent, eventIdOf } from '../protocol/recorded-event.js';
import type { ExpectedState, Verdict } from '../rules/expected-state.js';
import { LAST_REVISION, NO_EVENTS, judgeExpectedState } from '../rules/expected-state.js';
import type { RecentIds } from '../rules/recent-ids.js';
import {
  METADATA_TYPE,
  SOFT_DELETED,
  TOMBSTONE_TYPE,
  isMetastream,
  isSoftDeleted,
  metastreamOf,
  originalOf,
  withTruncateBefore,
} from '../rules/stream-metadata.js';
import type { InSteps } from './group-commit.js';
import type { NameTable } from './name-table.js';
import type { RecordTable } from './record-table.js';
import { RECORD_HEADER } from './record-table.js';
import type { StreamStates } from './stream-states.js';

export type LogWrite =
  | {
      readonly kind: 'append';
      readonly stream: Buffer;
      readonly expected: ExpectedState;
      readonly events: readonly ProposedEvent[];
    }
  | { readonly kind: 'delete' | 'tombstone'; readonly stream: Buffer; readonly expected: ExpectedState };

export type WriteOutcome =
  /** `revision` is -1 for an empty append to an empty stream; an empty append has no position. */
  | { readonly kind: 'written'; readonly revision: bigint; readonly position: bigint | undefined }
  | { readonly kind: 'wrong-expected-version'; readonly current: bigint }
  | { readonly kind: 'stream-deleted' };

export interface LogParts {
  readonly streams: NameTable;
  readonly types: NameTable;
  readonly records: RecordTable;
  readonly states: StreamStates;
  readonly recent: RecentIds;
  readonly now: () => number;
}

/** An append may hold half a million tiny events: after this many, others get a turn. */
const EVENTS_A_STEP = 1_000;
/** Or after as many bytes: a thousand appends of a megabyte share a commit as well. */
const BYTES_A_STEP = 2n * 1024n * 1024n;

export function bytesIn(write: LogWrite): number {
  if (write.kind !== 'append') return 0;
  return write.events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
}

/** Applies writes one after another inside a transaction that its caller owns. */
export class LogWriter {
  private inStep = 0;
  private stepBegan: bigint;

  constructor(
    private readonly parts: LogParts,
    /** The position that the next record gets. */
    public head: bigint,
  ) {
    this.stepBegan = head;
  }

  *apply(write: LogWrite): InSteps<WriteOutcome> {
    const { stream } = write;
    const { states } = this.parts;
    if (states.isTombstoned(stream)) return { kind: 'stream-deleted' };
    const { lastRevision } = states.of(stream);
    const condition = {
      lastRevision,
      // A getter: only one verdict asks, and the look-up costs as much as the rest.
      get hasMetadata(): boolean {
        return !isMetastream(stream) && states.of(metastreamOf(stream)).lastRevision !== NO_EVENTS;
      },
      softDeleted: !isMetastream(stream) && isSoftDeleted(states.metadataOf(stream)),
    };
    const verdict = judgeExpectedState(write.expected, condition);
    switch (write.kind) {
      case 'append':
        return (
          (yield* this.settle(write, verdict)) ??
          (yield* this.append(stream, write.events, condition.softDeleted))
        );
      case 'delete':
      case 'tombstone': {
        const gone = write.expected.kind === 'no-stream' && condition.softDeleted;
        const refusal = refuseDeletion(verdict, lastRevision, gone);
        if (refusal !== undefined) return refusal;
        if (write.kind === 'tombstone') return this.tombstone(stream);
        // Metadata alone make a stream that can be deleted.
        return lastRevision === NO_EVENTS && !condition.hasMetadata
          ? { kind: 'wrong-expected-version', current: NO_EVENTS }
          : this.softDelete(stream, lastRevision);
      }
      default:
        return write satisfies never;
    }
  }

  /** Decides what the verdict leaves open: whether these events are in the log already. */
  private *settle(write: LogWrite & { kind: 'append' }, verdict: Verdict): InSteps<WriteOutcome | undefined> {
    const { id, lastRevision } = this.parts.states.of(write.stream);
    const conflict = { kind: 'wrong-expected-version', current: lastRevision } as const;
    switch (verdict.kind) {
      case 'write':
        return undefined;
      case 'wrong-expected-version':
        return conflict;
      case 'stream-deleted':
        return { kind: 'stream-deleted' };
      case 'recall':
        return id === undefined ? undefined : this.recall(id, write.events, conflict);
      case 'compare': {
        const found =
          id === undefined ? 0 : yield* this.countMatching(id, verdict.firstRevision, write.events);
        if (id !== undefined && found > 0 && found === write.events.length) {
          const revision = verdict.firstRevision + BigInt(found) - 1n;
          return {
            kind: 'written',
            revision,
            position: this.parts.records.atRevision(id, revision)?.position,
          };
        }
        const recreates =
          write.expected.kind === 'no-stream' && isSoftDeleted(this.parts.states.metadataOf(write.stream));
        return found === 0 && recreates ? undefined : conflict;
      }
      default:
        return verdict satisfies never;
    }
  }

  /** How many of the events stand in the stream from `first` on, one record in memory at a time. */
  private *countMatching(stream: bigint, first: bigint, events: readonly ProposedEvent[]): InSteps<number> {
    let found = 0;
    for (const event of events) {
      const record = this.parts.records.atRevision(stream, first + BigInt(found));
      if (record === undefined || eventIdOf(record.bytes) !== event.id) break;
      found += 1;
      if (this.stepEnds()) yield;
    }
    return found;
  }

  private recall(
    stream: bigint,
    events: readonly ProposedEvent[],
    conflict: WriteOutcome,
  ): WriteOutcome | undefined {
    const writes = events.map((event) => this.parts.recent.find(event.id, stream));
    if (writes[0] === undefined) return undefined;
    const last = writes.at(-1);
    return last === undefined || writes.includes(undefined)
      ? conflict
      : { kind: 'written', revision: last.revision, position: last.position };
  }

  private *append(
    stream: Buffer,
    events: readonly ProposedEvent[],
    softDeleted: boolean,
  ): InSteps<WriteOutcome> {
    const { states } = this.parts;
    const { lastRevision } = states.of(stream);
    if (events.length === 0) return { kind: 'written', revision: lastRevision, position: undefined };
    const revives = isMetastream(stream) && isSoftDeleted(states.metadataOf(originalOf(stream)));
    for (const event of events) {
      this.write(stream, event);
      if (this.stepEnds()) yield;
    }
    const { lastRevision: revision, lastPosition: position } = states.of(stream);
    if (softDeleted) this.revive(stream, lastRevision + 1n);
    if (revives) this.revive(originalOf(stream), states.of(originalOf(stream)).lastRevision + 1n);
    return { kind: 'written', revision, position };
  }

  private stepEnds(): boolean {
    this.inStep += 1;
    if (this.inStep < EVENTS_A_STEP && this.head - this.stepBegan < BYTES_A_STEP) return false;
    this.inStep = 0;
    this.stepBegan = this.head;
    return true;
  }

  private softDelete(stream: Buffer, lastRevision: bigint): WriteOutcome {
    const position = this.write(metastreamOf(stream), systemEvent(METADATA_TYPE, SOFT_DELETED));
    return { kind: 'written', revision: lastRevision, position };
  }

  private tombstone(stream: Buffer): WriteOutcome {
    const position = this.write(stream, systemEvent(TOMBSTONE_TYPE, Buffer.alloc(0)), LAST_REVISION);
    return { kind: 'written', revision: LAST_REVISION, position };
  }

  /** Moves `$tb` from "everything" to the first revision of the stream's new life, keeping the other keys. */
  private revive(stream: Buffer, firstRevision: bigint): void {
    const current = this.parts.states.metadataRecord(stream);
    if (current === undefined) return;
    const data = withTruncateBefore(decodeRecordedEvent(current.bytes).data, firstRevision);
    this.write(metastreamOf(stream), systemEvent(METADATA_TYPE, data));
  }

  private write(stream: Buffer, event: ProposedEvent, at?: bigint): bigint {
    const { states, streams, types, records, recent } = this.parts;
    const id = streams.findOrCreate(stream);
    const revision = at ?? states.of(stream).lastRevision + 1n;
    const position = this.head;
    const created = this.parts.now();
    const bytes = encodeRecordedEvent(event, { stream, revision, position, created });
    const type = types.findOrCreate(Buffer.from(event.type, 'utf8'));
    records.insert({ position, stream: id, revision, type, created: BigInt(created) }, bytes);
    this.head = position + BigInt(bytes.length) + RECORD_HEADER;
    states.update(stream, { id, lastRevision: revision, lastPosition: position });
    recent.remember(event.id, { stream: id, revision, position });
    return position;
  }
}

/** `gone`: the writer expects no stream, and finds one that was soft-deleted. */
function refuseDeletion(verdict: Verdict, current: bigint, gone: boolean): WriteOutcome | undefined {
  switch (verdict.kind) {
    case 'write':
    case 'recall':
      return undefined;
    case 'compare':
      return gone ? undefined : { kind: 'wrong-expected-version', current };
    case 'wrong-expected-version':
      return { kind: 'wrong-expected-version', current };
    case 'stream-deleted':
      return { kind: 'stream-deleted' };
    default:
      return verdict satisfies never;
  }
}

function systemEvent(type: string, data: Buffer): ProposedEvent {
  return { id: randomUUID(), type, isJson: data.length > 0, metadata: Buffer.alloc(0), data };
}
