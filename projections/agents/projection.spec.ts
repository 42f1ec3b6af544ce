import { it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { on, positionOf, timeOf, type Happening } from '../../test/support/specifications/recorded-events.js';
import { agentsProjection } from './projection.js';

const agents = ProjectionSpecification.for(agentsProjection);
const registered = (spec: Record<string, unknown> | null): Happening =>
  on('ag_1', {
    type: 'AgentRegistered',
    data: { agent_id: 'ag_1', name: 'coder', owner: 'ann', harness: 'codex', sub_agents: ['a'], spec },
  });

it('an agent is what its first registration says', () => {
  agents.given([registered({ v: 1 }), registered({ v: 2 })]).thenOnly({
    id: 'ag_1',
    name: 'coder',
    owner: 'ann',
    harness: 'codex',
    sub_agents: ['a'],
    spec: { v: 1 },
    created_at: timeOf(1),
    updated_at: timeOf(1),
    position: positionOf(1),
  });
});
