import { withdrawAll } from '../../../elicitations/domain/decide.js';
import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { refuse } from '../../../refusal.js';
import { DELETE_SEQUENCE, type CascadeIntent } from '../cascades.js';
import type { SessionEvent } from '../events.js';
import type { SessionStreamEvent } from '../facts.js';
import { childIds, type SessionState } from '../state.js';

/**
 * The wish to delete a session and everything below it; a deleted session is not found again. The result is the
 * intent's number, null where nothing follows from it.
 */
export function decideDelete(
  state: SessionState,
): Decision<SessionStreamEvent, { readonly sequence: number | null }> {
  if (!state.facts || state.facts.deleted) return refuse('not_found', 'Session not found');
  const hasChildren = childIds(state.children).length > 0;
  return { events: deletion(state, null), result: { sequence: hasChildren ? DELETE_SEQUENCE : null } };
}

/** What a delete above does to a session that it reaches; one that is deleted already stays as it is. */
export function decideFollowDelete(
  state: SessionState,
  intent: CascadeIntent,
): Decision<SessionStreamEvent, null> {
  if (!state.facts || state.facts.deleted) return { events: [], result: null };
  return { events: deletion(state, intent), result: null };
}

function deletion(state: SessionState, intent: CascadeIntent | null): readonly SessionStreamEvent[] {
  const deleted: SessionEvent = {
    type: 'SessionDeleted',
    data: {
      follows: intent && { session_id: intent.top, sequence: intent.sequence },
      children: childIds(state.children).length,
    },
  };
  return [...withdrawAll(state.prompts, 'deleted'), deleted];
}
