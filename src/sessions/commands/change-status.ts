import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { Refusal } from '../../refusal.js';
import { decideStatus, type StatusEdge } from '../domain/decide/change-status.js';
import { SessionCommands } from '../session-commands.js';

/** Event `external_session_status`. */
export class ChangeStatus extends Command<Answer<Record<string, never>> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly edge: StatusEdge,
  ) {
    super();
  }
}

@CommandHandler(ChangeStatus)
export class ChangeStatusHandler implements ICommandHandler<ChangeStatus> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
  ) {}

  execute({ request, sessionId, edge }: ChangeStatus): Promise<Answer<Record<string, never>> | Refusal> {
    return this.runner.run<Record<string, never>>({
      request,
      status: 202,
      carryOut: async (context) => {
        const { principal } = request;
        const outcome = await this.sessions.decide(context, {
          principal,
          sessionId,
          decide: (state) => decideStatus(state, edge),
        });
        return outcome.kind === 'done' ? { ...outcome, result: {} } : outcome;
      },
    });
  }
}
