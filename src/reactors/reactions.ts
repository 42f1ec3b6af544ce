import type { ObligationKind } from '../../projections/obligations/projection.js';
import type { Cascade } from '../sessions/cascade.js';
import type { SessionCommands } from '../sessions/session-commands.js';
import { birth } from './birth.js';
import { cascade } from './cascade.js';
import type { Reaction } from './reaction.js';
import { release } from './release.js';
import { rename } from './rename.js';

export type Reactions = Readonly<Record<ObligationKind, Reaction>>;

/** How each kind of obligation is met; the compiler asks for every kind that the projection knows. */
export function reactions(sessions: SessionCommands, walks: Cascade): Reactions {
  return {
    birth: birth(sessions),
    rename: rename(sessions),
    release: release(sessions),
    interrupt: cascade('interrupt', walks),
    delete: cascade('delete', walks),
  };
}
