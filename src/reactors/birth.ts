import { decideBirth } from '../sessions/domain/decide/spawn.js';
import type { SessionSpawn } from '../sessions/domain/events.js';
import type { SessionCommands } from '../sessions/session-commands.js';
import type { Reaction } from './reaction.js';

/** After `ChildSpawned`: the child's own stream begins. */
export function birth(sessions: SessionCommands): Reaction {
  return async (owed, { context }) => {
    // What the projection stored under `birth` is the spawn of a checked `ChildSpawned`.
    const spawn = owed.payload as unknown as SessionSpawn;
    const born = await sessions.follow(context, owed.child_id, (state) => decideBirth(state, spawn));
    return born.kind === 'done';
  };
}
