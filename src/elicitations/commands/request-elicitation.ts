import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { mintId, type CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import { isRefusal, type Refusal } from '../../refusal.js';
import { SessionCommands } from '../../sessions/session-commands.js';
import { decideRequest, withdrawnAtOnce } from '../domain/decide.js';
import type { PromptParams } from '../domain/prompt-book.js';

type Requested = { elicitation_id: string };

/** A session asks its human something. */
export class RequestElicitation extends Command<Answer<Requested> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly prompt: {
      /** The client's own id, else one is minted. */
      readonly elicitationId: string | null;
      readonly params: PromptParams;
      readonly responseId: string | null;
      readonly expiresAt: number | null;
    },
  ) {
    super();
  }
}

@CommandHandler(RequestElicitation)
export class RequestElicitationHandler implements ICommandHandler<RequestElicitation> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
  ) {}

  execute({ request, sessionId, prompt }: RequestElicitation): Promise<Answer<Requested> | Refusal> {
    const elicitationId = prompt.elicitationId ?? mintId('elicitation', request);
    return this.runner.run({
      request,
      status: 202,
      carryOut: (context) =>
        this.sessions.decide(context, {
          principal: request.principal,
          sessionId,
          record: (result) => result,
          decide: ({ prompts, facts }) => {
            const requested = decideRequest(prompts, { ...prompt, elicitationId });
            if (isRefusal(requested) || !facts || facts.closed === null) return requested;
            return { ...requested, events: withdrawnAtOnce(requested.events) };
          },
        }),
    });
  }
}
