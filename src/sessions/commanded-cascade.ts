import { setTimeout as delay } from 'node:timers/promises';
import type { CommandRequest } from '../command-handling/command-request.js';
import type { CommandContext } from '../event-store/aggregates/command-context.js';
import type { Position } from '../event-store/position.js';
import type { Cascade, CascadeOrder } from './cascade.js';
import { isRunning, type CascadeIntent } from './domain/cascades.js';
import type { CascadeKind, InterruptRequest } from './domain/events.js';
import { latest, type SessionCommands } from './session-commands.js';

/** How long a command carries its cascade itself; the reactor carries on. */
const WAIT_MS = 2_000;
/** A child that is just being born is looked at again. */
const PAUSE_MS = 25;

/** The cascade as the command that caused it sees it. What was appended is never answered with an error. */
export class CommandedCascade {
  constructor(
    private readonly cascade: Cascade,
    private readonly sessions: SessionCommands,
  ) {}

  /** Carries it as far as the command's wait goes, not at all after `Prefer: respond-async`. Never throws. */
  async carry(
    { waits }: CommandRequest,
    context: CommandContext,
    intent: CascadeIntent,
    requested: InterruptRequest,
  ): Promise<Position | null> {
    if (!waits) return null;
    const deadline = performance.now() + WAIT_MS;
    const goesOn = (): boolean => performance.now() < deadline;
    const progress: { position: Position | null } = { position: null };
    const walked = this.walk({ intent, requested, context, goesOn }, progress);
    // A log that does not answer holds a step far longer than anybody waits for the command.
    await Promise.race([walked, delay(WAIT_MS, undefined, { ref: false })]);
    return progress.position;
  }

  private async walk(order: CascadeOrder, progress: { position: Position | null }): Promise<void> {
    while (order.goesOn()) {
      const outcome = await this.cascade.run(order).catch(() => null);
      progress.position = latest(progress.position, outcome?.position ?? null);
      if (outcome?.done) return;
      await delay(PAUSE_MS);
    }
  }

  /** Whether something below may not have been reached yet; true when the log cannot tell. */
  async isRunning(sessionId: string, kind: CascadeKind): Promise<boolean> {
    return this.sessions.readEvenDeleted(sessionId).then(
      ({ cascades }) => isRunning(cascades, kind),
      () => true,
    );
  }
}
