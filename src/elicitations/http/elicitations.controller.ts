import { Body, Controller, Get, HttpCode, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../auth/principal.js';
import { CurrentPrincipal } from '../../auth/request-principal.js';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { accepted } from '../../http/answer.js';
import { orThrow } from '../../http/errors.js';
import { FromRequest } from '../../http/command-request.param.js';
import { ElicitationId, SessionId } from '../../http/path-params.js';
import { setReplyHeaders } from '../../http/reply-headers.js';
import { ResolveElicitation } from '../commands/resolve-elicitation.js';
import { type ElicitationView, GetElicitation } from '../queries/get-elicitation.js';
import { ResolveDto } from './resolve.dto.js';

@Controller('v1/sessions/:id/elicitations/:elicitationId')
export class ElicitationsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  async get(
    @CurrentPrincipal() principal: Principal,
    @SessionId() sessionId: string,
    @ElicitationId() elicitationId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ElicitationView> {
    const found = orThrow(
      await this.queries.execute(new GetElicitation(principal, sessionId, elicitationId)),
    );
    setReplyHeaders(reply, { position: found.position, noStore: true });
    return found.view;
  }

  @Post('resolve')
  @HttpCode(202)
  async resolve(
    @FromRequest() request: CommandRequest,
    @SessionId() sessionId: string,
    @ElicitationId() elicitationId: string,
    @Body() body: ResolveDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ queued: false }> {
    const verdict = {
      elicitationId,
      action: body.action,
      content: body.content ?? null,
      via: 'resolve' as const,
    };
    const command = new ResolveElicitation(request, sessionId, verdict);
    const { result } = accepted(reply, request, await this.commands.execute(command));
    if (result.standing !== '') void reply.header('rollcall-resolution', result.standing);
    return { queued: false };
  }
}
