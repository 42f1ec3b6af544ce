import { Body, Controller, HttpStatus, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { IsObject, IsOptional, IsString, Matches } from 'class-validator';
import type { FastifyReply } from 'fastify';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { accepted } from '../../http/answer.js';
import { ApiError, orThrow } from '../../http/errors.js';
import { FromRequest } from '../../http/command-request.param.js';
import { MaxCodePoints } from '../../http/validation.js';
import { RegisterAgent } from '../commands/register-agent.js';
import { type AgentBody, GetAgent } from '../queries/get-agent.js';

/** `contract/sessions.md` 2.3. */
const AGENT_NAME = /^[a-zA-Z0-9_-]+$/;
const NAME_LENGTH = 128;
/** The web client puts it before agents that a person added. */
const RESERVED_NAME = 'ui';

export class RegisterAgentDto {
  @IsString()
  @MaxCodePoints(NAME_LENGTH)
  @Matches(AGENT_NAME)
  name: string;

  @IsOptional()
  @IsObject()
  spec?: Record<string, unknown> | null;
}

@Controller('v1/agents')
export class AgentsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  /** 201 for a new agent, 200 for the same one again, 409 for the name with another specification (`api.md` 5). */
  @Post()
  async register(
    @FromRequest() request: CommandRequest,
    @Body() body: RegisterAgentDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentBody> {
    if (body.name === RESERVED_NAME)
      throw new ApiError('invalid_input', `The agent name "${RESERVED_NAME}" is reserved.`);
    const command = new RegisterAgent(request, body.name, body.spec ?? null);
    const { result } = accepted(reply, request, await this.commands.execute(command));
    void reply.code(result.created === 'yes' ? HttpStatus.CREATED : HttpStatus.OK);
    return orThrow(await this.queries.execute(new GetAgent(request.principal, result.agent_id)));
  }
}
