import type { Principal } from '../auth/principal.js';
import type { AgentState } from './aggregate.js';
import type { AgentRegistration } from './domain/events.js';

/** The agent when the principal may use it; foreign and missing look alike. */
export function accessibleAgent(principal: Principal, agent: AgentState): AgentRegistration | null {
  if (!agent) return null;
  return principal.kind === 'anonymous' || agent.owner === principal.id ? agent : null;
}
