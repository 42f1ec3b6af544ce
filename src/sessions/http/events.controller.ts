import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { accepted } from '../../http/answer.js';
import { ApiError, orThrow } from '../../http/errors.js';
import { FromRequest } from '../../http/command-request.param.js';
import { SessionId } from '../../http/path-params.js';
import { accessible } from '../access.js';
import { SessionCommands } from '../session-commands.js';
import { PostEventDto } from './event.dto.js';
import { EventIntake } from './event-intake.js';

@Controller('v1/sessions/:id/events')
export class EventsController {
  constructor(
    private readonly intake: EventIntake,
    private readonly sessions: SessionCommands,
  ) {}

  /** Checked in the order of `contract/sessions.md` 6.1: body, access, author, type, payload. */
  @Post()
  @HttpCode(202)
  async post(
    @FromRequest() request: CommandRequest,
    @SessionId() sessionId: string,
    @Body() body: PostEventDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    orThrow(accessible(request.principal, await this.sessions.recall(sessionId)));
    if (body.created_by !== null && body.created_by !== undefined)
      throw new ApiError('forbidden', 'Only a runner may say who created an event.');
    const taken = orThrow(await this.intake.take(request, sessionId, body.type, body.data ?? {}));
    if (taken.answer) accepted(reply, request, taken.answer);
    if (taken.resolution) void reply.header('rollcall-resolution', taken.resolution);
    return taken.body;
  }
}
