import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandContext, Outcome } from '../../event-store/aggregates/command-context.js';
import type { Position } from '../../event-store/position.js';
import { isRefusal, type Refusal } from '../../refusal.js';
import { deletionOf } from '../cascade.js';
import { DeletedSubtrees } from '../deleted-subtrees.js';
import { decideDelete } from '../domain/decide/delete.js';
import { CommandedCascade } from '../commanded-cascade.js';
import { latest, SessionCommands } from '../session-commands.js';
import { releaseName } from './release-name.js';

type Deleted = { session_id: string };

export type DeletionAnswer = Answer<Deleted> & { readonly running: boolean };

/** `DELETE /v1/sessions/{id}`: the session and everything below it (`contract/sessions.md` 3.6). */
export class DeleteSession extends Command<DeletionAnswer | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly ifMatch: Position | '*' | null,
  ) {
    super();
  }
}

@CommandHandler(DeleteSession)
export class DeleteSessionHandler implements ICommandHandler<DeleteSession> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
    private readonly subtrees: DeletedSubtrees,
    private readonly cascade: CommandedCascade,
  ) {}

  async execute(command: DeleteSession): Promise<DeletionAnswer | Refusal> {
    const { request, sessionId } = command;
    const answer = await this.runner.run({
      request,
      status: 200,
      carryOut: (context) => this.carryOut(context, command),
      completeReplay: (_result, context) => this.carry(context, command),
    });
    if (isRefusal(answer)) return answer;
    return { ...answer, running: await this.cascade.isRunning(sessionId, 'delete') };
  }

  private async carryOut(context: CommandContext, command: DeleteSession): Promise<Outcome<Deleted>> {
    const { request, sessionId, ifMatch } = command;
    const ids = { session_id: sessionId };
    const deleted = await this.sessions.decide(context, {
      principal: request.principal,
      sessionId,
      ifMatch,
      record: () => ids,
      decide: decideDelete,
    });
    if (deleted.kind !== 'done') return deleted;
    if (deleted.position !== null) this.subtrees.add(sessionId, deleted.position);
    const released = await this.release(context, sessionId);
    const reached = deleted.result.sequence === null ? null : await this.carry(context, command);
    return { kind: 'done', result: ids, position: latest(deleted.position, released, reached) };
  }

  private async release(context: CommandContext, sessionId: string): Promise<Position | null> {
    const state = await this.sessions.recallEvenDeleted(sessionId).catch(() => null);
    return state?.facts ? releaseName(this.sessions, context, state.facts) : null;
  }

  private carry(context: CommandContext, { request, sessionId }: DeleteSession): Promise<Position | null> {
    return this.cascade.carry(request, context, deletionOf(sessionId), 'interrupt');
  }
}
