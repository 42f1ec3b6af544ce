import type { Principal } from '../../auth/principal.js';
import type { ReadModels } from '../../read-models/read-models.js';
import { isRefusal, type Refusal } from '../../refusal.js';
import { accessible } from '../access.js';
import type { SessionCommands } from '../session-commands.js';

/**
 * Why a read found no session in the read models: it does not exist for this principal, or the
 * read models have not come to it yet, in which case they are waited for. Null: read again.
 */
export async function afterMiss(
  readModels: ReadModels,
  sessions: SessionCommands,
  principal: Principal,
  sessionId: string,
): Promise<Refusal | null> {
  const facts = accessible(principal, await sessions.read(sessionId));
  if (isRefusal(facts)) return facts;
  await readModels.caughtUpTo(facts.createdPosition);
  return null;
}
