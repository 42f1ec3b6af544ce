import type { Principal } from '../auth/principal.js';
import { refuse, type Refusal } from '../refusal.js';
import type { SessionFacts } from './domain/facts.js';
import type { SessionState } from './domain/state.js';

/** Ownership lies at the root and every session of the tree carries it. Without authentication all is open. */
export function mayAccess(principal: Principal, session: { readonly owner: string | null }): boolean {
  return principal.kind === 'anonymous' || session.owner === principal.id;
}

/** One answer for missing and foreign, so that existence is not told (`contract/sessions.md` 1.5). */
export function sessionNotFound(): Refusal {
  return refuse('not_found', 'Session not found');
}

/** The facts when the principal may reach the session, else the refusal. */
export function accessible(principal: Principal, state: SessionState): SessionFacts | Refusal {
  return state.facts && mayAccess(principal, state.facts) ? state.facts : sessionNotFound();
}
