import { decideRelease } from '../sessions/domain/decide/close.js';
import type { SessionCommands } from '../sessions/session-commands.js';
import type { Reaction } from './reaction.js';

/** After a child was closed or deleted: its name under the parent is free again. */
export function release(sessions: SessionCommands): Reaction {
  return async (owed, { context }) => {
    if (owed.parent_id === null) return true;
    const released = await sessions.follow(context, owed.parent_id, (parent) =>
      decideRelease(parent, owed.child_id),
    );
    return released.kind === 'done';
  };
}
