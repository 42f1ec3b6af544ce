import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { accessible } from '../access.js';
import { SessionCommands } from '../session-commands.js';

/** Event `message`: work for the session's runner. Without one nothing is stored (design 8). */
export class SendMessage extends Command<Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly role: 'user' | 'assistant',
  ) {
    super();
  }
}

@CommandHandler(SendMessage)
export class SendMessageHandler implements ICommandHandler<SendMessage> {
  constructor(private readonly sessions: SessionCommands) {}

  async execute({ request, sessionId, role }: SendMessage): Promise<Refusal> {
    const facts = accessible(request.principal, await this.sessions.read(sessionId));
    if (isRefusal(facts)) return facts;
    if (role === 'user' && facts.closed !== null) return refuse('conflict', 'Session is closed');
    return refuse('runner_unavailable', 'No runner bound for session');
  }
}
