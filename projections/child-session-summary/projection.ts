import { foldFacts, leavesOnlyTimes } from '../../src/sessions/domain/facts.js';
import type { SessionFacts, SessionStreamEvent } from '../../src/sessions/domain/facts.js';
import { previewOf } from '../../src/sessions/domain/preview.js';
import { isBusy, taskStatusOf, type TaskStatus } from '../../src/sessions/domain/status.js';
import { handleOf } from '../../src/sessions/domain/title.js';
import type { ProjectedEvent, Projection, RowKey } from '../projection.js';
import { asSessionEvent } from '../session-events.js';
import { changedRow, factsOf, rowOf, sessionColumns, touchedRow, type SessionRow } from '../sessions/row.js';

/** One child of a session, ready to be shown in its parent's list (`contract/sessions.md` 4.2). */
export interface ChildSummaryRow extends SessionRow {
  readonly tool: string | null;
  readonly session_name: string | null;
  readonly busy: boolean;
  readonly current_task_status: TaskStatus | null;
  readonly last_message_preview: string | null;
}

export const childSessionSummaryProjection: Projection<ChildSummaryRow> = {
  name: 'child-session-summary',
  version: 3,
  table: {
    name: 'child_session_summary',
    columns: {
      ...sessionColumns,
      tool: 'text',
      session_name: 'text',
      busy: 'boolean',
      current_task_status: 'text',
      last_message_preview: 'text',
    },
    primaryKey: ['id'],
    guards: ['position'],
    indexes: ['(parent_id, created_position DESC) WHERE NOT deleted'],
    hot: ['updated_at', 'activity_position', 'last_message_preview', 'position'],
    insertOnly: false,
  },
  keysOf: (event) => (concernsChild(event) ? [keyOf(event)] : []),
  apply(event, rows) {
    const change = asSessionEvent(event.event);
    if (!change || !concernsChild(event)) return;
    const row = rows.get(keyOf(event));
    const preview = previewAfter(change, row?.last_message_preview ?? null);
    if (row && leavesOnlyTimes(change)) {
      return rows.put({ ...touchedRow(row, change, event), last_message_preview: preview });
    }
    const facts = foldFacts(row ? factsOf(row) : null, change, event);
    if (facts && facts.parentId !== null) rows.put(summaryOf(facts, row, preview));
  },
};

/** Events of a root carry no ancestors, so its items cost this projection nothing. */
function concernsChild(event: ProjectedEvent): boolean {
  return asSessionEvent(event.event) !== null && (event.metadata.ancestor_ids ?? []).length > 0;
}

function keyOf(event: ProjectedEvent): RowKey {
  return [event.subjectId];
}

function previewAfter(change: SessionStreamEvent, standing: string | null): string | null {
  if (change.type !== 'ItemAppended') return standing;
  return previewOf(change.data.item_type, change.data.payload) ?? standing;
}

function summaryOf(
  facts: SessionFacts,
  standing: ChildSummaryRow | undefined,
  preview: string | null,
): ChildSummaryRow {
  const handle = handleOf(facts);
  return {
    ...(standing ? changedRow(standing, facts) : rowOf(facts)),
    tool: handle.tool,
    session_name: handle.sessionName,
    busy: isBusy(facts.status),
    current_task_status: taskStatusOf(facts.status, facts.lastTaskError),
    last_message_preview: preview,
  };
}
