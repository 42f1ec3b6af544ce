import { withdrawAll } from '../../../elicitations/domain/decide.js';
import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { refuse } from '../../../refusal.js';
import type { CascadeIntent } from '../cascades.js';
import type { InterruptRequest, SessionEvent } from '../events.js';
import type { SessionStreamEvent } from '../facts.js';
import { childIds, type SessionState } from '../state.js';
import { isBusy } from '../status.js';

/**
 * The wish to end what a session and everything below it are doing. A session without children that does nothing has
 * nothing to interrupt; one with children is the intent for them, whatever it does itself. The result is the intent's
 * number, null where nothing follows from it.
 */
export function decideInterrupt(
  state: SessionState,
  requested: InterruptRequest,
): Decision<SessionStreamEvent, { readonly sequence: number | null }> {
  if (!state.facts) return refuse('not_found', 'Session not found');
  const children = childIds(state.children).length;
  if (children === 0 && !hasWork(state)) return { events: [], result: { sequence: null } };
  const events = interruption(state, requested, null);
  return { events, result: { sequence: children === 0 ? null : state.cascades.interrupts + 1 } };
}

/** What an interrupt above does to a session that it reaches: once, however often the cascade is begun again. */
export function decideFollowInterrupt(
  state: SessionState,
  intent: CascadeIntent,
  requested: InterruptRequest,
): Decision<SessionStreamEvent, null> {
  const known = state.cascades.followed.get(intent.top) ?? 0;
  if (!state.facts || known >= intent.sequence || !hasWork(state)) return { events: [], result: null };
  return { events: interruption(state, requested, intent), result: null };
}

function hasWork({ facts, prompts }: SessionState): boolean {
  return (facts !== null && isBusy(facts.status)) || prompts.open.size > 0;
}

function interruption(
  state: SessionState,
  requested: InterruptRequest,
  intent: CascadeIntent | null,
): readonly SessionStreamEvent[] {
  const interrupted: SessionEvent = {
    type: 'SessionInterrupted',
    data: {
      requested,
      response_id: state.facts?.activeResponseId ?? null,
      sequence: state.cascades.interrupts + 1,
      follows: intent && { session_id: intent.top, sequence: intent.sequence },
      children: childIds(state.children).length,
    },
  };
  return [...withdrawAll(state.prompts, 'interrupted'), interrupted];
}
