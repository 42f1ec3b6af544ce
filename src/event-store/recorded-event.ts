import type { DomainEvent } from './event-type.js';
import type { Position } from './position.js';

/** Names one command among all: an Idempotency-Key in its scope, or a natural key (`api.md` 1). */
export interface CommandKey {
  /** SHA-256 of the scope and the key in it. */
  readonly key: string;
  /** SHA-256 of the canonical body. */
  readonly hash: string;
}

/** The command that an event ends, so that a retry with the same key finds its answer in the log (design 3). */
export interface CommandRecord {
  readonly keys: readonly CommandKey[];
  readonly status: number;
  /** The ids that the answer gave; a repeated answer is read again from these. */
  readonly result: Readonly<Record<string, string>>;
}

export interface EventMetadata {
  readonly schema: number;
  readonly $correlationId: string;
  readonly $causationId: string;
  /** `user:<id>`, `anonymous` or `system:<part>`. */
  readonly actor: string;
  /** ISO 8601, the producer's clock; the log's own clock is `recordedAt`. */
  readonly occurred_at: string;
  readonly root_id?: string;
  /** Root first, parent last. */
  readonly ancestor_ids?: readonly string[];
  readonly command?: CommandRecord;
}

/** An event as it leaves for the log. */
export interface EncodedEvent extends DomainEvent {
  readonly id: string;
  readonly data: Record<string, unknown>;
  readonly metadata: EventMetadata;
  /** As the log counts it against its limit of one append. */
  readonly bytes: number;
}

/** What the log gives back, before the registry has looked at it. */
export interface RawEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  /** Epoch milliseconds, the log's clock. */
  readonly recordedAt: number;
  readonly data: unknown;
  readonly metadata: unknown;
}

/** An event that this build understands: known type, newest schema, checked shape, text safe to show. */
export interface RecordedEvent<E extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
  readonly event: E;
}
