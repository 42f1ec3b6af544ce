import { decodeRecordedEvent } from '../protocol/recorded-event.js';
import { LAST_REVISION, NO_EVENTS } from '../rules/expected-state.js';
import type { StreamMetadata } from '../rules/stream-metadata.js';
import {
  NO_METADATA,
  firstVisibleRevision,
  isMetastream,
  isSoftDeleted,
  metastreamOf,
  originalOf,
  parseStreamMetadata,
} from '../rules/stream-metadata.js';
import { NameCache } from './name-cache.js';
import type { NameTable } from './name-table.js';
import type { LogRecord, RecordTable } from './record-table.js';

/** The end of a stream. `id` is undefined for a name that the log has never seen. */
export interface StreamState {
  readonly id: bigint | undefined;
  readonly lastRevision: bigint;
  readonly lastPosition: bigint;
}

/** What a reader finds under a stream's name. */
export type ReadableStream =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'deleted' }
  | {
      readonly kind: 'readable';
      readonly id: bigint;
      readonly first: bigint;
      readonly last: bigint;
      readonly maxAgeSeconds: number | undefined;
    };

const UNKNOWN: StreamState = { id: undefined, lastRevision: NO_EVENTS, lastPosition: 0n };

/** The ends and the metadata of streams, read from the log when asked for and kept for the busy ones. */
export class StreamStates {
  private readonly states = new NameCache<StreamState>();
  private readonly metadata = new NameCache<StreamMetadata>();
  private readonly updates: { readonly stream: Buffer; readonly state: StreamState }[] = [];

  constructor(
    private readonly names: NameTable,
    private readonly records: RecordTable,
    /** Records from this position on do not count. */
    private readonly end: () => bigint,
  ) {}

  of(stream: Buffer): StreamState {
    const cached = this.states.get(stream);
    if (cached !== undefined) return cached;
    const id = this.names.find(stream);
    if (id === undefined) return UNKNOWN;
    const tail = this.records.streamTail(id, this.end());
    const state = {
      id,
      lastRevision: tail?.revision ?? NO_EVENTS,
      lastPosition: tail?.position ?? 0n,
    };
    this.states.set(stream, state);
    return state;
  }

  update(stream: Buffer, state: StreamState): void {
    this.keep(stream, state);
    // The events of one append come with the same name: one entry for all of them.
    if (this.updates.at(-1)?.stream === stream) this.updates.pop();
    this.updates.push({ stream, state });
  }

  /** Takes over what was updated there since the last time. */
  follow(leader: StreamStates): void {
    for (const { stream, state } of leader.updates) this.keep(stream, state);
    leader.updates.length = 0;
  }

  private keep(stream: Buffer, state: StreamState): void {
    this.states.set(stream, state);
    if (isMetastream(stream)) this.metadata.delete(originalOf(stream));
  }

  metadataOf(stream: Buffer): StreamMetadata {
    const cached = this.metadata.get(stream);
    if (cached !== undefined) return cached;
    const event = this.metadataRecord(stream);
    const metadata =
      event === undefined ? NO_METADATA : parseStreamMetadata(decodeRecordedEvent(event.bytes).data);
    this.metadata.set(stream, metadata);
    return metadata;
  }

  metadataRecord(stream: Buffer): LogRecord | undefined {
    const state = this.of(metastreamOf(stream));
    return state.lastRevision === NO_EVENTS ? undefined : this.records.at(state.lastPosition);
  }

  /** A tombstone on a stream covers its metastream too. */
  isTombstoned(stream: Buffer): boolean {
    if (this.of(stream).lastRevision === LAST_REVISION) return true;
    return isMetastream(stream) && this.of(originalOf(stream)).lastRevision === LAST_REVISION;
  }

  readable(stream: Buffer): ReadableStream {
    if (this.isTombstoned(stream)) return { kind: 'deleted' };
    const { id, lastRevision: last } = this.of(stream);
    if (id === undefined || last === NO_EVENTS) return { kind: 'not-found' };
    // A metastream shows its newest event only.
    if (isMetastream(stream)) return { kind: 'readable', id, first: last, last, maxAgeSeconds: undefined };
    const metadata = this.metadataOf(stream);
    if (isSoftDeleted(metadata)) return { kind: 'not-found' };
    const first = firstVisibleRevision(metadata, last);
    return { kind: 'readable', id, first, last, maxAgeSeconds: metadata.maxAgeSeconds };
  }

  /** After a rollback nothing cached can be trusted. */
  forget(): void {
    this.updates.length = 0;
    this.states.clear();
    this.metadata.clear();
  }
}
