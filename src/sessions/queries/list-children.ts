import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import {
  childSessionSummaryProjection,
  type ChildSummaryRow,
} from '../../../projections/child-session-summary/projection.js';
import type { Principal } from '../../auth/principal.js';
import type { Position } from '../../event-store/position.js';
import { fromDatabase } from '../../projection-engine/row-codec.js';
import { ReadModels } from '../../read-models/read-models.js';
import type { Refusal } from '../../refusal.js';
import { mayAccess, sessionNotFound } from '../access.js';
import { SessionCommands } from '../session-commands.js';
import { type RollupCounts, toChildRow } from './child-row.js';
import { countsNoMoreSql, isDeletedSql } from './deleted.js';
import { cursorValues, cutPage, type Page, type PageRequest, pageSql } from './page.js';
import { afterMiss } from './session-gate.js';

export interface ListedChildren extends Page<{ readonly id: string }> {
  readonly checkpoint: Position;
}

/** `GET /v1/sessions/{id}/child_sessions`: direct children, newest first unless asked otherwise. */
export class ListChildren extends Query<ListedChildren | Refusal> {
  constructor(
    readonly principal: Principal,
    readonly parentId: string,
    readonly page: PageRequest,
    /** The exact title of the open child to find; null lists all. */
    readonly openTitle: string | null,
  ) {
    super();
  }
}

interface Found {
  readonly checkpoint: string;
  readonly parent_owner: string | null;
  readonly parent_deleted: boolean;
  readonly id: string | null;
  readonly counts: RollupCounts | null;
}

@QueryHandler(ListChildren)
export class ListChildrenHandler implements IQueryHandler<ListChildren> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly sessions: SessionCommands,
  ) {}

  async execute(query: ListChildren): Promise<ListedChildren | Refusal> {
    const found = await this.find(query);
    if (found) return found;
    const refusal = await afterMiss(this.readModels, this.sessions, query.principal, query.parentId);
    return refusal ?? (await this.find(query)) ?? sessionNotFound();
  }

  /** One statement, whatever the fan-out: the parent, a page of children and the counts below each. */
  private async find({
    principal,
    parentId,
    page,
    openTitle,
  }: ListChildren): Promise<ListedChildren | Refusal | null> {
    const rows = await this.readModels.query<Found & Record<string, unknown>>(
      `list-children-${page.order}`,
      listSql(this.readModels.schema, page),
      [parentId, openTitle, page.limit + 1, ...cursorValues(page.after), ...cursorValues(page.before)],
    );
    const [first] = rows;
    if (!first) return null;
    if (first.parent_deleted || !mayAccess(principal, { owner: first.parent_owner }))
      return sessionNotFound();
    const children = rows.filter((row) => row.id !== null);
    return { ...cutPage(children, page.limit, childOf), checkpoint: BigInt(first.checkpoint) };
  }
}

function listSql(schema: string, page: PageRequest): string {
  const valueOf = (id: string): string =>
    `(SELECT created_position FROM ${schema}.child_session_summary WHERE id = ${id} AND parent_id = $1)`;
  const { where, order } = pageSql(page, 'created_position', valueOf, {
    after: { row: '$4', place: '$5' },
    before: { row: '$6', place: '$7' },
  });
  return `
    SELECT k.position AS checkpoint, p.owner AS parent_owner, ${isDeletedSql(schema, 'p')} AS parent_deleted,
      c.*, r.counts
    FROM ${schema}.checkpoint k JOIN ${schema}.sessions p ON p.id = $1
    LEFT JOIN LATERAL (
      SELECT * FROM ${schema}.child_session_summary
      WHERE parent_id = $1 AND NOT deleted AND ($2::text IS NULL OR (title = $2 AND closed IS NULL)) AND ${where}
      ORDER BY ${order} LIMIT $3) c ON true
    LEFT JOIN LATERAL (
      SELECT json_build_object('pending', coalesce(sum(pending), 0),
        'pending_self', coalesce(sum(pending) FILTER (WHERE session_id = c.id), 0),
        'oldest_pending_at', floor(extract(epoch FROM min(oldest_pending_at)))) AS counts
      FROM ${schema}.session_rollups r WHERE ancestor_id = c.id AND (pending > 0 OR busy > 0)
        AND NOT ${countsNoMoreSql(schema, 'c.root_id')}) r ON true
    ORDER BY c.${order}`;
}

function childOf(row: Found & Record<string, unknown>): { row: { readonly id: string }; position: Position } {
  const child = fromDatabase(childSessionSummaryProjection.table.columns, row) as ChildSummaryRow;
  const counts = row.counts ?? { pending: 0, pending_self: 0, oldest_pending_at: null };
  return { row: toChildRow(child, counts), position: child.created_position };
}
