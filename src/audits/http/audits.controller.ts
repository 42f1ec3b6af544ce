import { Body, Controller, Delete, Get, HttpCode, Post, Res, UseGuards } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import { projectionSet } from '../../../projections/projection-set.js';
import { AdministratorGuard } from '../../auth/administrator.guard.js';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { FromRequest } from '../../http/command-request.param.js';
import { ApiError, notFound, orThrow, unprocessable } from '../../http/errors.js';
import { AuditId } from '../../http/path-params.js';
import { setReplyHeaders } from '../../http/reply-headers.js';
import { parseId } from '../../ids.js';
import { auditedProjections, type AuditRequest } from '../../projection-engine/audit/audit.js';
import { CancelAudit } from '../commands/cancel-audit.js';
import { RequestAudit } from '../commands/request-audit.js';
import { type AuditBody, GetAudit } from '../queries/get-audit.js';
import { RequestAuditDto } from './audit.dto.js';

/** An audit reads everybody's rows, so with users only administrators may have one. */
@Controller('v1/audits')
@UseGuards(AdministratorGuard)
export class AuditsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post()
  @HttpCode(202)
  async request(
    @FromRequest() request: CommandRequest,
    @Body() body: RequestAuditDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ readonly id: string; readonly state: string }> {
    const command = new RequestAudit(request, wantedBy(body));
    const { id, state, replayed } = orThrow(await this.commands.execute(command));
    setReplyHeaders(reply, { idempotencyReplayed: replayed });
    return { id, state };
  }

  @Get(':id')
  async get(@AuditId() id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<AuditBody> {
    setReplyHeaders(reply, { noStore: true });
    const found = await this.queries.execute(new GetAudit(id));
    if (!found) throw notFound();
    return found;
  }

  @Delete(':id')
  async cancel(@AuditId() id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<AuditBody> {
    await this.commands.execute(new CancelAudit(id));
    return this.get(id, reply);
  }
}

function wantedBy({ projections, session: given }: RequestAuditDto): AuditRequest {
  const session = given === null || given === undefined ? null : parseId('session', given);
  if (typeof given === 'string' && session === null) throw new ApiError('not_found', 'Session not found');
  const wanted = { projections: projections ?? null, session };
  if (auditedProjections(projectionSet, wanted).length > 0) return wanted;
  const msg = 'Rows of these projections belong to no session';
  throw unprocessable([
    { type: 'value_error', loc: ['body', 'projections'], msg, input: projections ?? null },
  ]);
}
