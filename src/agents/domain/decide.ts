import { isDeepStrictEqual } from 'node:util';
import { refuse, type Refusal } from '../../refusal.js';
import type { AgentEvent, AgentRegistration } from './events.js';

export interface Registered {
  readonly agent_id: string;
  /** `yes` when the agent was new, `no` when the same one had been registered before. */
  readonly created: 'yes' | 'no';
}

/** A name belongs to its first registration; the same specification again is the same agent (`api.md` 5). */
export function decideRegister(
  standing: AgentRegistration | null,
  wanted: AgentRegistration,
): Refusal | { readonly events: readonly AgentEvent[]; readonly result: Registered } {
  if (!standing) {
    const events: AgentEvent[] = [{ type: 'AgentRegistered', data: wanted }];
    return { events, result: { agent_id: wanted.agent_id, created: 'yes' } };
  }
  if (isDeepStrictEqual(standing.spec, wanted.spec)) {
    return { events: [], result: { agent_id: standing.agent_id, created: 'no' } };
  }
  return refuse('already_exists', `Agent "${wanted.name}" is registered with another specification.`);
}
