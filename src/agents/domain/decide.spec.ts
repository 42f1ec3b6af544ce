import { describe, it } from '@jest/globals';
import { DeciderSpecification } from '../../../test/support/specifications/decider-specification.js';
import { decideRegister } from './decide.js';
import type { AgentEvent, AgentRegistration } from './events.js';

const agents = DeciderSpecification.for<AgentRegistration | null, AgentEvent>({
  initial: null,
  evolve: (state, event) => state ?? event.data,
});
const wanted = (spec: Record<string, unknown> | null): AgentRegistration => ({
  agent_id: 'ag_1',
  name: 'coder',
  owner: 'ann',
  harness: null,
  sub_agents: [],
  spec,
});
const registered = (spec: Record<string, unknown> | null): AgentEvent => ({
  type: 'AgentRegistered',
  data: wanted(spec),
});

describe('the registration of an agent (api.md 5)', () => {
  it('takes the name', () => {
    agents
      .given([])
      .when((state) => decideRegister(state, wanted({ a: 1 })))
      .then([registered({ a: 1 })], { agent_id: 'ag_1', isNew: true });
  });

  it('is the same agent when it comes again, in whatever order its keys are', () => {
    agents
      .given([registered({ a: 1, b: { c: [2] } })])
      .when((state) => decideRegister(state, wanted({ b: { c: [2] }, a: 1 })))
      .thenNothing({ agent_id: 'ag_1', isNew: false });
    agents
      .given([registered(null)])
      .when((state) => decideRegister(state, wanted(null)))
      .thenNothing({ agent_id: 'ag_1', isNew: false });
  });

  it('is refused with another specification', () => {
    agents
      .given([registered({ a: 1 })])
      .when((state) => decideRegister(state, wanted(null)))
      .thenRefused('already_exists', /"coder"/);
  });
});
