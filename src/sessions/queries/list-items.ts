import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Principal } from '../../auth/principal.js';
import type { Position } from '../../event-store/position.js';
import { ReadModels } from '../../read-models/read-models.js';
import type { Refusal } from '../../refusal.js';
import { mayAccess, sessionNotFound } from '../access.js';
import { SessionCommands } from '../session-commands.js';
import { isDeletedSql } from './deleted.js';
import { cursorValues, cutPage, type Page, type PageRequest, pageSql } from './page.js';
import { afterMiss } from './session-gate.js';
import { flatItem, type ItemRow } from './snapshot.js';

export interface ListedItems extends Page<{ readonly id: string }> {
  readonly checkpoint: Position;
}

/** `GET /v1/sessions/{id}/items`, in log order. */
export class ListItems extends Query<ListedItems | Refusal> {
  constructor(
    readonly principal: Principal,
    readonly sessionId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

type Found = { readonly checkpoint: string; readonly owner: string | null; readonly is_deleted: boolean } & (
  (ItemRow & { readonly position: string }) | { readonly item_id: null }
);

@QueryHandler(ListItems)
export class ListItemsHandler implements IQueryHandler<ListItems> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly sessions: SessionCommands,
  ) {}

  async execute(query: ListItems): Promise<ListedItems | Refusal> {
    const found = await this.find(query);
    if (found) return found;
    const refusal = await afterMiss(this.readModels, this.sessions, query.principal, query.sessionId);
    return refusal ?? (await this.find(query)) ?? sessionNotFound();
  }

  private async find({ principal, sessionId, page }: ListItems): Promise<ListedItems | Refusal | null> {
    const rows = await this.readModels.query<Found>(
      `list-items-${page.order}`,
      listSql(this.readModels.schema, page),
      [sessionId, page.limit + 1, ...cursorValues(page.after), ...cursorValues(page.before)],
    );
    const [first] = rows;
    if (!first) return null;
    if (first.is_deleted || !mayAccess(principal, first)) return sessionNotFound();
    const items = rows.flatMap((row) => (row.item_id === null ? [] : [row]));
    const cut = cutPage(items, page.limit, (item) => ({
      row: flatItem(item),
      position: BigInt(item.position),
    }));
    return { ...cut, checkpoint: BigInt(first.checkpoint) };
  }
}

function listSql(schema: string, page: PageRequest): string {
  const valueOf = (id: string): string =>
    `(SELECT position FROM ${schema}.session_items WHERE session_id = $1 AND item_id = ${id})`;
  const { where, order } = pageSql(page, 'position', valueOf, {
    after: { row: '$3', place: '$4' },
    before: { row: '$5', place: '$6' },
  });
  return `
    SELECT k.position AS checkpoint, s.owner, ${isDeletedSql(schema, 's')} AS is_deleted, i.item_id, i.response_id, i.type, i.payload, i.created_by, i.position,
      floor(extract(epoch FROM i.created_at))::double precision AS created_at
    FROM ${schema}.checkpoint k JOIN ${schema}.sessions s ON s.id = $1
    LEFT JOIN LATERAL (
      SELECT * FROM ${schema}.session_items WHERE session_id = $1 AND ${where} ORDER BY ${order} LIMIT $2) i ON true
    ORDER BY i.${order}`;
}
