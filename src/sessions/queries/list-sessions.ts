import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { sessionColumns, type SessionRow } from '../../../projections/sessions/row.js';
import { ownerOf, type Principal } from '../../auth/principal.js';
import type { Position } from '../../event-store/position.js';
import { fromDatabase } from '../../projection-engine/row-codec.js';
import { ReadModels } from '../../read-models/read-models.js';
import { shownLabels } from '../domain/labels.js';
import { listStatusOf } from '../domain/status.js';
import type { RollupCounts } from './child-row.js';
import { countsNoMoreSql, liesBelowDeletedSql } from './deleted.js';
import { cursorValues, cutPage, type Page, type PageRequest, pageSql, type Place } from './page.js';
import { epochSeconds } from './snapshot.js';

export type SessionKind = 'default' | 'sub_agent' | 'any';
export type SessionSort = 'created_at' | 'updated_at';

export interface ListedSessions extends Page<{ readonly id: string }> {
  readonly checkpoint: Position;
}

/** `GET /v1/sessions`: what the principal may read and has an agent. */
export class ListSessions extends Query<ListedSessions> {
  constructor(
    readonly principal: Principal,
    readonly page: PageRequest,
    readonly sortBy: SessionSort,
    readonly filter: {
      readonly kind: SessionKind;
      readonly agentId: string | null;
      readonly agentName: string | null;
    },
  ) {
    super();
  }
}

interface Found {
  readonly checkpoint: string;
  readonly id: string | null;
  readonly counts: (RollupCounts & { readonly busy_descendants: number }) | null;
}

const SORT_COLUMN = {
  created_at: 'created_position',
  updated_at: 'activity_position',
} as const satisfies Readonly<Record<SessionSort, keyof SessionRow>>;
const KIND_CONDITION: Readonly<Record<SessionKind, string>> = {
  default: 'parent_id IS NULL AND NOT deleted',
  sub_agent: 'parent_id IS NOT NULL AND NOT deleted',
  any: 'NOT deleted',
};

@QueryHandler(ListSessions)
export class ListSessionsHandler implements IQueryHandler<ListSessions> {
  constructor(private readonly readModels: ReadModels) {}

  async execute({ principal, page, sortBy, filter }: ListSessions): Promise<ListedSessions> {
    const everyone = principal.kind === 'anonymous';
    const movedBeyond = movedBeyondOf(page, sortBy);
    const rows = await this.readModels.query<Found & Record<string, unknown>>(
      `list-sessions-${page.order}-${sortBy}-${filter.kind}-${everyone ? 'all' : 'own'}${movedBeyond === null ? '' : '-moved'}`,
      listSql(this.readModels.schema, page, sortBy, filter.kind, everyone),
      [
        page.limit + 1,
        ...cursorValues(page.after),
        ...cursorValues(page.before),
        filter.agentId,
        filter.agentName,
        ...(everyone ? [] : [ownerOf(principal)]),
        ...(movedBeyond === null ? [] : [movedBeyond.toString()]),
      ],
    );
    const checkpoint = BigInt(rows[0]?.checkpoint ?? 0);
    const sessions = rows.filter((row) => row.id !== null);
    const cut = cutPage(sessions, page.limit, (row) => listRow(row, principal, sortBy));
    return { ...cut, next: nextOf(cut.next, page, sortBy, checkpoint), checkpoint };
  }
}

/**
 * Newest activity first, a row that moves goes where the reader has been. So a walk by `next_cursor` remembers the
 * checkpoint of its beginning: below its place come the rows that stood still, and after the last of them, oldest
 * first, those that have moved beyond that checkpoint. Null: not such a walk.
 */
function movedBeyondOf({ after, order }: PageRequest, sortBy: SessionSort): Position | null {
  return sortBy === 'updated_at' && order === 'desc' && after?.kind === 'place' ? after.movedBeyond : null;
}

function nextOf(
  next: Place | null,
  page: PageRequest,
  sortBy: SessionSort,
  checkpoint: Position,
): Place | null {
  if (next === null || sortBy !== 'updated_at' || page.order !== 'desc') return next;
  const movedBeyond = movedBeyondOf(page, sortBy);
  if (movedBeyond === null) return { ...next, movedBeyond: checkpoint };
  return next.position > movedBeyond
    ? { ...next, position: 0n, movedBeyond: next.position }
    : { ...next, movedBeyond };
}

function listSql(
  schema: string,
  page: PageRequest,
  sortBy: SessionSort,
  kind: SessionKind,
  everyone: boolean,
): string {
  const column = SORT_COLUMN[sortBy];
  const mine = everyone ? 'true' : 'owner = $8';
  const valueOf = (id: string): string =>
    `(SELECT ${column} FROM ${schema}.sessions WHERE id = ${id} AND ${mine})`;
  const { where, order } = pageSql(page, column, valueOf, {
    after: { row: '$2', place: '$3' },
    before: { row: '$4', place: '$5' },
  });
  const shown =
    kind === 'default'
      ? KIND_CONDITION[kind]
      : `${KIND_CONDITION[kind]} AND NOT ${liesBelowDeletedSql(schema, 'ancestor_ids')}`;
  const sessions = (turn: string, condition: string, inOrder: string): string => `
      (SELECT *, ${turn} AS turn FROM ${schema}.sessions
       WHERE ${shown} AND agent_id IS NOT NULL AND ${mine}
         AND ($6::text IS NULL OR agent_id = $6) AND ($7::text IS NULL OR agent_name = $7) AND ${condition}
       ORDER BY ${inOrder} LIMIT $1)`;
  const standing = sessions(page.order === 'asc' ? column : `-${column}`, where, order);
  const moved =
    movedBeyondOf(page, sortBy) === null
      ? ''
      : `UNION ALL ${sessions(column, `${column} > ${everyone ? '$8' : '$9'}::bigint`, column)}`;
  return `
    SELECT k.position AS checkpoint, s.*, r.counts
    FROM ${schema}.checkpoint k
    LEFT JOIN LATERAL (SELECT * FROM (${standing} ${moved}) x ORDER BY turn LIMIT $1) s ON true
    LEFT JOIN LATERAL (
      SELECT json_build_object('pending', coalesce(sum(pending), 0),
        'pending_self', coalesce(sum(pending) FILTER (WHERE session_id = s.id), 0),
        'busy_descendants', coalesce(sum(busy) FILTER (WHERE session_id <> s.id), 0),
        'oldest_pending_at', floor(extract(epoch FROM min(oldest_pending_at)))) AS counts
      FROM ${schema}.session_rollups r WHERE ancestor_id = s.id AND (pending > 0 OR busy > 0)
        AND NOT ${countsNoMoreSql(schema, 's.root_id')}) r ON true
    ORDER BY s.turn`;
}

/** `contract/sessions.md` 3.1: fields without a value are left out. */
function listRow(
  source: Found & Record<string, unknown>,
  principal: Principal,
  sortBy: SessionSort,
): { readonly row: { readonly id: string }; readonly position: Position } {
  const row = fromDatabase(sessionColumns, source) as SessionRow;
  const counts = source.counts ?? {
    pending: 0,
    pending_self: 0,
    oldest_pending_at: null,
    busy_descendants: 0,
  };
  const body = {
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    status: listStatusOf(row.status, counts.busy_descendants),
    created_at: epochSeconds(row.created_at),
    updated_at: epochSeconds(row.updated_at),
    title: row.title,
    labels: shownLabels(row.labels, row.closed !== null),
    permission_level: principal.kind === 'anonymous' ? null : 4,
    owner: row.owner,
    pending_elicitations_count: counts.pending,
    archived: false,
    parent_session_id: row.parent_id,
    closed: row.closed !== null,
    pending_self: counts.pending_self,
    pending_descendants: counts.pending - counts.pending_self,
    oldest_pending_at: counts.oldest_pending_at,
    position: row.position.toString(),
  };
  const given = Object.entries(body).filter(([, value]) => value !== null);
  return { row: { id: row.id, ...Object.fromEntries(given) }, position: row[SORT_COLUMN[sortBy]] };
}
