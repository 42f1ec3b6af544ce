import type { Outcome } from '../../event-store/aggregates/command-context.js';
import { refuse } from '../../refusal.js';
import type { NameTaken } from '../domain/decide/spawn.js';
import type { SessionState } from '../domain/state.js';

const ATTEMPTS = 5;

/**
 * Takes a name under a parent. A name whose holder is closed or deleted is free in truth although its release has not
 * been written yet: the holder's own stream decides (design 3).
 */
export async function claimName<Granted>(
  title: string | null,
  claim: (released: string | null) => Promise<Outcome<Granted | NameTaken>>,
  holderState: (childId: string) => Promise<Pick<SessionState, 'facts'>>,
): Promise<Outcome<Granted>> {
  let released: string | null = null;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const outcome = await claim(released);
    if (outcome.kind !== 'done') return outcome;
    const { result } = outcome;
    if (!isNameTaken(result)) return { ...outcome, result };
    const { facts } = await holderState(result.nameTakenBy);
    if (!facts || (facts.closed === null && !facts.deleted)) break;
    released = result.nameTakenBy;
  }
  return {
    kind: 'refused',
    refusal: refuse('already_exists', `An open child is already titled "${title ?? ''}".`),
  };
}

function isNameTaken(result: unknown): result is NameTaken {
  return typeof result === 'object' && result !== null && 'nameTakenBy' in result;
}
