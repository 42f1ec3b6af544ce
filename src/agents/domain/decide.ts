import { isDeepStrictEqual } from 'node:util';
import { refuse, type Refusal } from '../../refusal.js';
import type { AgentEvent, AgentRegistration } from './events.js';

export interface Registered {
  readonly agent_id: string;
  /** False when the same agent had been registered before. */
  readonly isNew: boolean;
}

/** A name belongs to its first registration; the same specification again is the same agent (`api.md` 5). */
export function decideRegister(
  standing: AgentRegistration | null,
  wanted: AgentRegistration,
): Refusal | { readonly events: readonly AgentEvent[]; readonly result: Registered } {
  if (!standing) {
    const events: AgentEvent[] = [{ type: 'AgentRegistered', data: wanted }];
    return { events, result: { agent_id: wanted.agent_id, isNew: true } };
  }
  if (isDeepStrictEqual(standing.spec, wanted.spec)) {
    return { events: [], result: { agent_id: standing.agent_id, isNew: false } };
  }
  return refuse('already_exists', `Agent "${wanted.name}" is registered with another specification.`);
}
