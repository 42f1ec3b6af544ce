import { decidePatch } from '../sessions/domain/decide/rename.js';
import type { SessionCommands } from '../sessions/session-commands.js';
import type { Reaction } from './reaction.js';

/** After `ChildRenamed`: the child takes the title that its parent granted. */
export function rename(sessions: SessionCommands): Reaction {
  return async (owed, { context }) => {
    const { title, sequence } = owed.payload as unknown as { title: string | null; sequence: number };
    const renamed = await sessions.follow(context, owed.child_id, (state) =>
      decidePatch(state, { title, sequence }),
    );
    return renamed.kind === 'done';
  };
}
