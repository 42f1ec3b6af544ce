import { withdrawAll } from '../../../elicitations/domain/decide.js';
import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { refuse } from '../../../refusal.js';
import type { CloseReason, SessionEvent } from '../events.js';
import type { SessionStreamEvent } from '../facts.js';
import type { SessionState } from '../state.js';

export interface CloseRequest {
  readonly reason: CloseReason;
  readonly successorId: string | null;
}

/** Closing again changes nothing. Open prompts are withdrawn in the same append (design 13.9). */
export function decideClose(state: SessionState, request: CloseRequest): Decision<SessionStreamEvent, null> {
  if (!state.facts) return refuse('not_found', 'Session not found');
  if (state.facts.closed !== null) return { events: [], result: null };
  const closed: SessionEvent = {
    type: 'SessionClosed',
    data: { reason: request.reason, successor_session_id: request.successorId },
  };
  return { events: [...withdrawAll(state.prompts, 'closed'), closed], result: null };
}

/** On the parent's stream: the name of a closed child is free again. */
export function decideRelease(parent: SessionState, childId: string): Decision<SessionEvent, null> {
  const held = parent.children.byChild.has(childId);
  return { events: held ? [{ type: 'ChildReleased', data: { child_id: childId } }] : [], result: null };
}
