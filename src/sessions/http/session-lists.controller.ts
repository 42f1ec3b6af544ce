import { Controller, Get, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../auth/principal.js';
import { CurrentPrincipal } from '../../auth/request-principal.js';
import { orThrow } from '../../http/errors.js';
import type { ListEnvelope } from '../../http/list-envelope.js';
import { ParkedRows } from '../../http/parked-rows.js';
import { SessionId } from '../../http/path-params.js';
import { setReplyHeaders } from '../../http/reply-headers.js';
import { ListChildren } from '../queries/list-children.js';
import { ListItems } from '../queries/list-items.js';
import { toEnvelope, toPage } from './cursor.js';
import { ChildListQuery, ItemListQuery } from './session.dto.js';

@Controller('v1/sessions/:id')
export class SessionListsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly parked: ParkedRows,
  ) {}

  /** `contract/sessions.md` 4. */
  @Get('child_sessions')
  async children(
    @CurrentPrincipal() principal: Principal,
    @SessionId() parentId: string,
    @Query() query: ChildListQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<{ readonly id: string }>> {
    const { tool, session_name: name } = query;
    const openTitle = tool && name ? `${tool}:${name}` : null;
    const found = orThrow(
      await this.queries.execute(new ListChildren(principal, parentId, toPage('session', query), openTitle)),
    );
    setReplyHeaders(reply, { position: found.checkpoint, noStore: true });
    return this.parked.mark(reply, toEnvelope(found));
  }

  /** `contract/sessions.md` 5. */
  @Get('items')
  async items(
    @CurrentPrincipal() principal: Principal,
    @SessionId() sessionId: string,
    @Query() query: ItemListQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<{ readonly id: string }>> {
    const found = orThrow(
      await this.queries.execute(new ListItems(principal, sessionId, toPage('item', query))),
    );
    setReplyHeaders(reply, { position: found.checkpoint });
    return toEnvelope(found);
  }
}
