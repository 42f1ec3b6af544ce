import type { Refusal } from '../../refusal.js';
import type { DomainEvent } from '../event-type.js';
import type { Position } from '../position.js';
import type { SnapshotCodec } from './snapshot-store.js';

/** Where and when the log holds an event; for one just decided, this process's clock until it is read back. */
export interface EventPlace {
  readonly position: Position;
  readonly recordedAt: number;
}

/** How one kind of stream folds into the state that its decisions need. Pure. */
export interface Aggregate<State, Event extends DomainEvent> {
  readonly name: string;
  readonly initial: State;
  evolve(state: State, event: Event, place: EventPlace): State;
  /** The tree that the stream belongs to, for the metadata of its events; null where there is none. */
  lineageOf(state: State): Lineage | null;
  /** About how many bytes a remembered state holds; at least 1. */
  weightOf(state: State): number;
  /** Null for streams that never grow long. */
  readonly snapshots: SnapshotCodec<State> | null;
}

export interface Lineage {
  readonly root_id: string;
  /** Root first, parent last. */
  readonly ancestor_ids: readonly string[];
}

/** What a command comes to: events to append (none: it changes nothing) and its result, or a refusal. */
export type Decision<Event extends DomainEvent, Result> =
  Refusal | { readonly events: readonly Event[]; readonly result: Result };
