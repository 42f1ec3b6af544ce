import type { CommandContext } from '../../event-store/aggregates/command-context.js';
import type { Position } from '../../event-store/position.js';
import { decideRelease } from '../domain/decide/close.js';
import type { SessionFacts } from '../domain/facts.js';
import type { SessionCommands } from '../session-commands.js';

/** Frees the name of a child that was closed or deleted. Should it fail here, the reactor does it. */
export async function releaseName(
  sessions: SessionCommands,
  context: CommandContext,
  child: SessionFacts,
): Promise<Position | null> {
  if (child.parentId === null) return null;
  const released = await sessions.follow(context, child.parentId, (parent) =>
    decideRelease(parent, child.id),
  );
  return released.kind === 'done' ? released.position : null;
}
