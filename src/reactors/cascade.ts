import type { Cascade } from '../sessions/cascade.js';
import type { CascadeKind, InterruptRequest } from '../sessions/domain/events.js';
import type { Reaction } from './reaction.js';

interface Payload {
  readonly sequence: number;
  readonly requested?: InterruptRequest;
}

/** After an interrupt or a deletion: what lies below is reached. */
export function cascade(kind: CascadeKind, walks: Cascade): Reaction {
  return async (owed, { context, goesOn }) => {
    const { sequence, requested = 'interrupt' } = owed.payload as unknown as Payload;
    const intent = { kind, top: owed.child_id, sequence };
    const { done } = await walks.run({ intent, requested, context, goesOn });
    return done;
  };
}
