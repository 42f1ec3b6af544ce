import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import type { CascadeIntent } from '../cascades.js';
import type { InterruptRequest } from '../events.js';
import type { SessionStreamEvent } from '../facts.js';
import { childIds, type SessionState } from '../state.js';
import { decideFollowDelete } from './delete.js';
import { decideFollowInterrupt } from './interrupt.js';

/** `children`: as the session's stream names them up to the event that reached it. Null: it is not born yet. */
export interface Reached {
  readonly children: readonly string[] | null;
}

/** A session below an intent is reached: first what that means for itself, then its children are known (design 4). */
export function decideReach(
  state: SessionState,
  intent: CascadeIntent,
  requested: InterruptRequest,
): Decision<SessionStreamEvent, Reached> {
  if (!state.facts) return { events: [], result: { children: null } };
  const children = childIds(state.children);
  const effect =
    intent.kind === 'delete'
      ? decideFollowDelete(state, intent)
      : decideFollowInterrupt(state, intent, requested);
  return 'refused' in effect ? effect : { events: effect.events, result: { children } };
}

/** On the stream of the intent: nothing is left below it. */
export function decideCascadeCompleted(
  state: SessionState,
  { kind, sequence }: CascadeIntent,
): Decision<SessionStreamEvent, null> {
  const isKnown = state.cascades.completed[kind] >= sequence;
  return { events: isKnown ? [] : [{ type: 'CascadeCompleted', data: { kind, sequence } }], result: null };
}
