import { weightOfJson } from '../text/json-weight.js';
import type { Aggregate } from '../event-store/aggregates/aggregate.js';
import { AggregateStore, type StorePorts } from '../event-store/aggregates/aggregate-store.js';
import type { SessionStreamEvent } from './domain/facts.js';
import { sessionSnapshots } from './session-snapshots.js';
import { evolveSession, noSession, type SessionState } from './domain/state.js';

/** Estimated bytes of facts, of one open child, of one settled prompt. */
const BASE_WEIGHT = 4_000;
const CHILD_WEIGHT = 300;
const PROMPT_ID_WEIGHT = 120;

export const sessionAggregate: Aggregate<SessionState, SessionStreamEvent> = {
  name: 'session',
  initial: noSession,
  evolve: evolveSession,
  weightOf: ({ prompts, children }) =>
    BASE_WEIGHT +
    children.byChild.size * CHILD_WEIGHT +
    prompts.settled.size * PROMPT_ID_WEIGHT +
    prompts.open.reduce((sum, { params }) => sum + weightOfJson(params), 0),
  snapshots: sessionSnapshots,
  lineageOf: ({ facts }) => (facts ? { root_id: facts.rootId, ancestor_ids: facts.ancestorIds } : null),
};

/** The streams of all sessions. */
export class SessionStore extends AggregateStore<SessionState, SessionStreamEvent> {
  constructor(ports: StorePorts) {
    super(sessionAggregate, ports);
  }
}
