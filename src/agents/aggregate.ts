import { weightOfJson } from '../text/json-weight.js';
import type { Aggregate } from '../event-store/aggregates/aggregate.js';
import { AggregateStore, type StorePorts } from '../event-store/aggregates/aggregate-store.js';
import type { AgentEvent, AgentRegistration } from './domain/events.js';

/** Null: no agent was ever registered under this id. */
export type AgentState = AgentRegistration | null;

const agentAggregate: Aggregate<AgentState, AgentEvent> = {
  name: 'agent',
  initial: null,
  evolve: (state, event) => state ?? event.data,
  lineageOf: () => null,
  weightOf: (state) => weightOfJson(state?.spec ?? null),
  snapshots: null,
};

/** The streams of all agents. */
export class AgentStore extends AggregateStore<AgentState, AgentEvent> {
  constructor(ports: StorePorts) {
    super(agentAggregate, ports);
  }
}
