import { Body, Controller, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../auth/principal.js';
import { CurrentPrincipal } from '../../auth/request-principal.js';
import type { CommandRequest } from '../../command-handling/command-request.js';
import type { Answer } from '../../command-handling/command-runner.js';
import { accepted } from '../../http/answer.js';
import { ApiError, orThrow } from '../../http/errors.js';
import { FromRequest } from '../../http/command-request.param.js';
import { IfMatchHeader } from '../../http/header-params.js';
import type { IfMatch } from '../../http/headers.js';
import type { ListEnvelope } from '../../http/list-envelope.js';
import { ParkedRows } from '../../http/parked-rows.js';
import { SessionId } from '../../http/path-params.js';
import { setReplyHeaders } from '../../http/reply-headers.js';
import { RequireJson } from '../../http/require-content-type.js';
import { parseId } from '../../ids.js';
import { CloseSession } from '../commands/close-session.js';
import { PatchSession } from '../commands/patch-session.js';
import { SpawnSession } from '../commands/spawn-session.js';
import { GetSession, type SnapshotOptions } from '../queries/get-session.js';
import { ListSessions } from '../queries/list-sessions.js';
import { toEnvelope, toPage } from './cursor.js';
import {
  CloseSessionDto,
  CreateSessionDto,
  PatchSessionDto,
  SessionListQuery,
  SnapshotQuery,
} from './session.dto.js';

const SLIM: SnapshotOptions = { items: false, liveness: true };
const WHOLE: SnapshotOptions = { items: true, liveness: true };

@Controller('v1/sessions')
export class SessionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly parked: ParkedRows,
  ) {}

  @Post()
  @RequireJson()
  async create(
    @FromRequest() request: CommandRequest,
    @Body() body: CreateSessionDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    if ((body.initial_items ?? []).length > 0) {
      throw new ApiError('invalid_input', 'initial_items are not supported: post them as events.');
    }
    const session = {
      agentId: idOr404('agent', body.agent_id, 'Agent'),
      parentId: idOr404('session', body.parent_session_id, 'Parent session'),
      title: body.title ?? null,
      tool: body.tool ?? null,
      sessionName: body.session_name ?? null,
      labels: body.labels ?? {},
    };
    const answer = accepted(reply, request, await this.commands.execute(new SpawnSession(request, session)));
    return this.snapshotAfter(answer, request, answer.result.session_id, WHOLE, reply);
  }

  @Get()
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: SessionListQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<{ readonly id: string }>> {
    const agentId =
      query.agent_id === undefined ? null : (parseId('agent', query.agent_id) ?? query.agent_id);
    const filter = { kind: query.kind, agentId, agentName: query.agent_name ?? null };
    const page = toPage('session', query);
    const found = await this.queries.execute(new ListSessions(principal, page, query.sort_by, filter));
    setReplyHeaders(reply, { position: found.checkpoint, noStore: true });
    return this.parked.mark(reply, toEnvelope(found));
  }

  @Get(':id')
  async get(
    @CurrentPrincipal() principal: Principal,
    @SessionId() sessionId: string,
    @Query() query: SnapshotQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const options = { items: query.include_items, liveness: query.include_liveness };
    const snapshot = orThrow(
      await this.queries.execute(new GetSession(principal, sessionId, options, 'read-models')),
    );
    setReplyHeaders(reply, { position: snapshot.checkpoint, etag: snapshot.etag, noStore: true });
    return snapshot.body;
  }

  @Patch(':id')
  async patch(
    @FromRequest() request: CommandRequest,
    @SessionId() sessionId: string,
    @IfMatchHeader() ifMatch: IfMatch | null,
    @Body() body: PatchSessionDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const patch = {
      ...(body.title === undefined ? {} : { title: body.title }),
      ...(body.labels ? { labels: body.labels } : {}),
    };
    const command = new PatchSession(request, sessionId, patch, ifMatch);
    const answer = accepted(reply, request, await this.commands.execute(command));
    return this.snapshotAfter(answer, request, sessionId, SLIM, reply);
  }

  @Post(':id/close')
  @HttpCode(200)
  async close(
    @FromRequest() request: CommandRequest,
    @SessionId() sessionId: string,
    @IfMatchHeader() ifMatch: IfMatch | null,
    @Body() body: CloseSessionDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const successorId = idOr404('session', body.successor_session_id, 'Successor session');
    const command = new CloseSession(
      request,
      sessionId,
      { reason: body.reason ?? 'done', successorId },
      ifMatch,
    );
    const answer = accepted(reply, request, await this.commands.execute(command));
    return this.snapshotAfter(answer, request, sessionId, SLIM, reply);
  }

  private async snapshotAfter(
    answer: Answer<unknown>,
    { principal }: CommandRequest,
    sessionId: string,
    options: SnapshotOptions,
    reply: FastifyReply,
  ): Promise<object> {
    const query = new GetSession(principal, sessionId, options, answer.projected ? 'either' : 'state');
    const snapshot = orThrow(await this.queries.execute(query));
    setReplyHeaders(reply, { etag: snapshot.etag, noStore: true });
    return snapshot.body;
  }
}

function idOr404(kind: 'agent' | 'session', raw: string | null | undefined, what: string): string | null {
  if (raw === null || raw === undefined) return null;
  const id = parseId(kind, raw);
  if (id === null) throw new ApiError('not_found', `${what} ${raw.slice(0, 200)} not found`);
  return id;
}
