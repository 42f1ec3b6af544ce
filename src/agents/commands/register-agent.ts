import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ownerOf } from '../../auth/principal.js';
import { derivedId, type CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import { StreamNames } from '../../event-store/stream-names.js';
import type { Refusal } from '../../refusal.js';
import { AgentStore } from '../aggregate.js';
import { decideRegister, type Registered } from '../domain/decide.js';
import { summarise } from '../domain/specification.js';

/** As the log records it, in texts alone: `created` is `yes` for an agent that was new. */
type RegistrationRecord = { readonly agent_id: string; readonly created: 'yes' | 'no' };

/** `POST /v1/agents` with a JSON specification. */
export class RegisterAgent extends Command<Answer<RegistrationRecord> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly name: string,
    readonly spec: Readonly<Record<string, unknown>> | null,
  ) {
    super();
  }
}

@CommandHandler(RegisterAgent)
export class RegisterAgentHandler implements ICommandHandler<RegisterAgent> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly agents: AgentStore,
    private readonly names: StreamNames,
  ) {}

  execute({ request, name, spec }: RegisterAgent): Promise<Answer<RegistrationRecord> | Refusal> {
    const owner = ownerOf(request.principal);
    // The id follows from owner and name, so the log itself decides who was first.
    const agentId = derivedId('agent', owner ?? '', name);
    const { harness, subAgents } = summarise(spec);
    const wanted = { agent_id: agentId, name, owner, harness, sub_agents: [...subAgents], spec };
    return this.runner.run<RegistrationRecord>({
      request,
      status: 201,
      carryOut: async (context) => {
        const outcome = await this.agents.run<Registered>(this.names.agent(agentId), {
          context,
          record: recordOf,
          decide: (standing) => decideRegister(standing, wanted),
        });
        return outcome.kind === 'done' ? { ...outcome, result: recordOf(outcome.result) } : outcome;
      },
    });
  }
}

function recordOf({ agent_id, isNew }: Registered): RegistrationRecord {
  return { agent_id, created: isNew ? 'yes' : 'no' };
}
