import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandContext, Outcome } from '../../event-store/aggregates/command-context.js';
import type { Position } from '../../event-store/position.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { accessible } from '../access.js';
import { decideClose, type CloseRequest } from '../domain/decide/close.js';
import { latest, SessionCommands } from '../session-commands.js';
import { releaseName } from './release-name.js';

type Closed = { session_id: string };

/** `POST /v1/sessions/{id}/close` (`api.md` 2). */
export class CloseSession extends Command<Answer<Closed> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly close: CloseRequest,
    readonly ifMatch: Position | '*' | null,
  ) {
    super();
  }
}

@CommandHandler(CloseSession)
export class CloseSessionHandler implements ICommandHandler<CloseSession> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
  ) {}

  execute(command: CloseSession): Promise<Answer<Closed> | Refusal> {
    const { request } = command;
    return this.runner.run({ request, status: 200, carryOut: (context) => this.carryOut(context, command) });
  }

  private async carryOut(context: CommandContext, command: CloseSession): Promise<Outcome<Closed>> {
    const { request, sessionId, close, ifMatch } = command;
    const unknown = await this.successorRefusal(command);
    if (unknown) return { kind: 'refused', refusal: unknown };
    const ids = { session_id: sessionId };
    const closed = await this.sessions.decide(context, {
      principal: request.principal,
      sessionId,
      ifMatch,
      record: () => ids,
      decide: (state) => decideClose(state, close),
    });
    if (closed.kind !== 'done') return closed;
    const facts = accessible(request.principal, await this.sessions.recall(sessionId));
    const released = isRefusal(facts) ? null : await releaseName(this.sessions, context, facts);
    return { ...closed, result: ids, position: latest(closed.position, released) };
  }

  /** Who succeeds inherits what is owed to the session, so it has to be one that the principal may reach. */
  private async successorRefusal({ request, close }: CloseSession): Promise<Refusal | null> {
    const { successorId } = close;
    if (successorId === null) return null;
    const successor = accessible(request.principal, await this.sessions.read(successorId));
    return isRefusal(successor) ? refuse('not_found', `Successor session ${successorId} not found`) : null;
  }
}
