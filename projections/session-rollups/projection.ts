import { isBusy } from '../../src/sessions/domain/status.js';
import type { ProjectedEvent, ProjectedRow, Projection, Rows } from '../projection.js';

/** What one session contributes to one of its ancestors, or to itself; ancestors sum over it. */
export interface RollupRow extends ProjectedRow {
  readonly ancestor_id: string;
  readonly session_id: string;
  readonly pending: number;
  readonly busy: number;
  readonly oldest_pending_at: number | null;
  /** On the session's own row alone: open prompts with the time of their request, epoch milliseconds. */
  readonly open_prompts: Readonly<Record<string, number>> | null;
  /** On the session's own row alone: prompts that a repeated request must not open again. */
  readonly settled_prompts: readonly string[] | null;
}

export const sessionRollupsProjection: Projection<RollupRow> = {
  name: 'session-rollups',
  version: 3,
  table: {
    name: 'session_rollups',
    columns: {
      ancestor_id: 'text',
      session_id: 'text',
      pending: 'integer',
      busy: 'integer',
      oldest_pending_at: 'timestamptz',
      open_prompts: 'json',
      settled_prompts: 'json',
      position: 'bigint',
    },
    primaryKey: ['ancestor_id', 'session_id'],
    guards: ['position'],
    indexes: [
      '(ancestor_id) INCLUDE (session_id, pending, busy, oldest_pending_at) WHERE pending > 0 OR busy > 0',
    ],
    hot: [],
    insertOnly: false,
  },
  keysOf: (event) =>
    contributes(event) ? receivers(event).map((ancestor) => [ancestor, event.subjectId]) : [],
  apply(event, rows) {
    if (!contributes(event)) return;
    const standing = rows.get([event.subjectId, event.subjectId]);
    // The rows of ancestors come and go, so only the session's own row can tell that an event comes again.
    if (standing && standing.position >= event.position) return;
    if (!standing && endsWork(event)) return;
    const own = contributionAfter(event, standing);
    for (const ancestor of receivers(event)) spread(ancestor, own, rows);
  },
};

function contributes(happening: ProjectedEvent): boolean {
  const { type } = happening.event;
  return type === 'SessionStatusChanged' || endsWork(happening) || type.startsWith('Elicitation');
}

function endsWork({ event: { type } }: ProjectedEvent): boolean {
  return type === 'SessionClosed' || type === 'SessionInterrupted' || type === 'SessionDeleted';
}

function receivers(event: ProjectedEvent): readonly string[] {
  return [...(event.metadata.ancestor_ids ?? []), event.subjectId];
}

type OwnRow = RollupRow & {
  open_prompts: Readonly<Record<string, number>>;
  settled_prompts: readonly string[];
};

function contributionAfter(event: ProjectedEvent, standing: RollupRow | undefined): OwnRow {
  const open = new Map(Object.entries(standing?.open_prompts ?? {}));
  const settled = new Set(standing?.settled_prompts ?? []);
  const busy = busyAfter(event, standing?.busy ?? 0);
  foldPrompt(event, open, settled);
  return {
    ancestor_id: event.subjectId,
    session_id: event.subjectId,
    pending: open.size,
    busy,
    oldest_pending_at: open.size === 0 ? null : Math.min(...open.values()),
    open_prompts: Object.fromEntries(open),
    settled_prompts: [...settled],
    position: event.position,
  };
}

function busyAfter(happening: ProjectedEvent, standing: number): number {
  if (endsWork(happening)) return 0;
  const { event } = happening;
  if (event.type !== 'SessionStatusChanged') return standing;
  return isBusy(event.data.status) ? 1 : 0;
}

function foldPrompt(
  { event, recordedAt }: ProjectedEvent,
  open: Map<string, number>,
  settled: Set<string>,
): void {
  switch (event.type) {
    case 'ElicitationRequested':
      if (!settled.has(event.data.elicitation_id) && !open.has(event.data.elicitation_id)) {
        open.set(event.data.elicitation_id, recordedAt);
      }
      return;
    case 'ElicitationResolved':
    case 'ElicitationExpired':
    case 'ElicitationWithdrawn':
      if (open.delete(event.data.elicitation_id)) settled.add(event.data.elicitation_id);
      return;
    default:
  }
}

function spread(ancestor: string, own: OwnRow, rows: Rows<RollupRow>): void {
  if (ancestor === own.session_id) rows.put(own);
  else if (own.pending === 0 && own.busy === 0) rows.remove([ancestor, own.session_id]);
  else rows.put({ ...own, ancestor_id: ancestor, open_prompts: null, settled_prompts: null });
}
