import type { ChildSummaryRow } from '../../../projections/child-session-summary/projection.js';
import { shownLabels } from '../domain/labels.js';
import { epochSeconds } from './snapshot.js';

/** Counts of a session and of everything below it. */
export interface RollupCounts {
  readonly pending: number;
  readonly pending_self: number;
  /** Epoch seconds. */
  readonly oldest_pending_at: number | null;
}

/** `contract/sessions.md` 4.2, every field present; the last four are ours (`api.md` 1). */
export function toChildRow(row: ChildSummaryRow, counts: RollupCounts): { readonly id: string } {
  const body = {
    id: row.id,
    object: 'child_session',
    parent_session_id: row.parent_id,
    title: row.title,
    task_summary: null,
    tool: row.tool,
    session_name: row.session_name,
    kind: 'sub_agent',
    created_at: epochSeconds(row.created_at),
    updated_at: epochSeconds(row.updated_at),
    agent_id: row.agent_id,
    agent_name: null,
    current_task_id: null,
    current_task_status: row.current_task_status,
    busy: row.busy,
    labels: shownLabels(row.labels, row.closed !== null),
    last_task_error: row.last_task_error,
    last_message_preview: row.last_message_preview,
    pending_elicitations_count: counts.pending,
    routed_model: null,
    routing_decision_id: row.labels['omnigent.routing.decision_id'] ?? null,
    pending_self: counts.pending_self,
    pending_descendants: counts.pending - counts.pending_self,
    oldest_pending_at: counts.oldest_pending_at,
    position: row.position.toString(),
  };
  return body;
}
