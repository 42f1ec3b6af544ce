import type { Aggregate } from '../event-store/aggregates/aggregate.js';
import { AggregateStore, type StorePorts } from '../event-store/aggregates/aggregate-store.js';
import type { SessionStreamEvent } from './domain/facts.js';
import { sessionSnapshots } from './session-snapshots.js';
import { evolveSession, noSession, type SessionState } from './domain/state.js';

export const sessionAggregate: Aggregate<SessionState, SessionStreamEvent> = {
  name: 'session',
  initial: noSession,
  evolve: evolveSession,
  snapshots: sessionSnapshots,
  lineageOf: ({ facts }) => (facts ? { root_id: facts.rootId, ancestor_ids: facts.ancestorIds } : null),
};

/** The streams of all sessions. */
export class SessionStore extends AggregateStore<SessionState, SessionStreamEvent> {
  constructor(ports: StorePorts) {
    super(sessionAggregate, ports);
  }
}
