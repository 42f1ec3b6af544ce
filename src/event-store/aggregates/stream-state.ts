import type { EventLog } from '../event-log.js';
import type { EventRegistry } from '../event-registry.js';
import type { DomainEvent } from '../event-type.js';
import type { Position } from '../position.js';
import type { Aggregate } from './aggregate.js';
import { RecentCommands } from './recent-commands.js';
import type { SnapshotStore } from './snapshot-store.js';

/** Before the first event of any log. */
const BEFORE_ALL = -1n;

/** A stream as this process knows it: folded up to `revision`. */
export interface StreamState<State> {
  readonly state: State;
  /** -1 for a stream without events. */
  readonly revision: bigint;
  /** Of the last event; -1 for a stream without events. */
  readonly position: Position;
  /** Where the newest stored snapshot stands; -1 without one. */
  readonly savedRevision: bigint;
  readonly recent: RecentCommands;
}

export function unwritten<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
): StreamState<State> {
  return {
    state: aggregate.initial,
    revision: -1n,
    position: BEFORE_ALL,
    savedRevision: -1n,
    recent: new RecentCommands(BEFORE_ALL),
  };
}

export interface TailRead<State> {
  readonly stream: StreamState<State>;
  /** Of each event just read, by its id. */
  readonly positions: ReadonlyMap<string, Position>;
}

/** Folds what the log holds after `known`. Throws `UnreadableEvent`, `LogUnavailable`, `StreamTombstoned`. */
export async function readTail<State, Event extends DomainEvent>(
  log: EventLog,
  registry: EventRegistry,
  aggregate: Aggregate<State, Event>,
  stream: string,
  known: StreamState<State>,
): Promise<TailRead<State>> {
  let { state, revision, position } = known;
  const positions = new Map<string, Position>();
  for await (const raw of log.read(stream, { from: revision + 1n })) {
    if (registry.isPassedOver(raw.type)) {
      ({ revision, position } = raw);
      continue;
    }
    const recorded = registry.decode(raw);
    // The registry has checked type and shape; a stream of one aggregate holds that aggregate's events only.
    state = aggregate.evolve(state, recorded.event as Event, recorded);
    ({ revision, position } = recorded);
    known.recent.addFrom(recorded);
    positions.set(recorded.id, recorded.position);
  }
  return { stream: { ...known, state, revision, position }, positions };
}

/** A stream from its stored snapshot, else unwritten; what the log holds beyond is still to be read. */
export async function fromSnapshot<State, Event extends DomainEvent>(
  snapshots: SnapshotStore,
  aggregate: Aggregate<State, Event>,
  stream: string,
): Promise<StreamState<State>> {
  const codec = aggregate.snapshots;
  const stored = codec && (await snapshots.load(stream, codec.version));
  if (!codec || !stored) return unwritten(aggregate);
  return {
    state: codec.fromJson(stored.state),
    revision: stored.revision,
    position: stored.position,
    savedRevision: stored.revision,
    recent: new RecentCommands(stored.position),
  };
}
