import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandContext, Outcome } from '../../event-store/aggregates/command-context.js';
import { isRefusal, type Refusal } from '../../refusal.js';
import { decideInterrupt } from '../domain/decide/interrupt.js';
import type { InterruptRequest } from '../domain/events.js';
import { CommandedCascade } from '../commanded-cascade.js';
import { latest, SessionCommands } from '../session-commands.js';

type Interrupted = Record<string, never>;

export type InterruptAnswer = Answer<Interrupted> & { readonly running: boolean };

/** Events `interrupt` and `stop_session`: everything that the session and those below it are doing ends. */
export class InterruptSession extends Command<InterruptAnswer | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly requested: InterruptRequest,
  ) {
    super();
  }
}

@CommandHandler(InterruptSession)
export class InterruptSessionHandler implements ICommandHandler<InterruptSession> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
    private readonly cascade: CommandedCascade,
  ) {}

  async execute(command: InterruptSession): Promise<InterruptAnswer | Refusal> {
    const answer = await this.runner.run<Interrupted>({
      request: command.request,
      status: 202,
      carryOut: (context) => this.carryOut(context, command),
    });
    if (isRefusal(answer)) return answer;
    return { ...answer, running: await this.cascade.isRunning(command.sessionId, 'interrupt') };
  }

  private async carryOut(context: CommandContext, command: InterruptSession): Promise<Outcome<Interrupted>> {
    const { request, sessionId, requested } = command;
    const interrupted = await this.sessions.decide(context, {
      principal: request.principal,
      sessionId,
      decide: (state) => decideInterrupt(state, requested),
    });
    if (interrupted.kind !== 'done') return interrupted;
    const { sequence } = interrupted.result;
    if (sequence === null) return { ...interrupted, result: {} };
    const intent = { kind: 'interrupt', top: sessionId, sequence } as const;
    const reached = await this.cascade.carry(request, context, intent, requested);
    return { kind: 'done', result: {}, position: latest(interrupted.position, reached) };
  }
}
