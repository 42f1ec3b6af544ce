/** What the rail reads of a row of `GET /v1/sessions/{id}/child_sessions` (`contract/sessions.md` 4.2). */
export interface ChildRow {
  readonly id: string;
  readonly title: string | null;
  readonly tool: string | null;
  readonly session_name: string | null;
  readonly current_task_status: 'in_progress' | 'completed' | 'failed' | null;
  readonly busy: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly last_task_error: { readonly code: string; readonly message: string } | null;
  readonly last_message_preview: string | null;
  readonly pending_elicitations_count: number;
  readonly pending_self: number;
}

export type EntryState = 'running' | 'waiting' | 'done' | 'failed' | 'new';

/** One line of the rail. */
export interface RailEntry {
  /** 0 for a child of the session itself. */
  readonly depth: number;
  readonly state: EntryState;
  readonly closed: boolean;
  readonly handle: string;
  /** Open questions here and below. */
  readonly pending: number;
  readonly failure: string | null;
  readonly preview: string | null;
}

export function entryOf(row: ChildRow, depth: number): RailEntry {
  return {
    depth,
    state: stateOf(row),
    closed: row.labels['omnigent.closed'] === 'true',
    handle: [row.tool, row.session_name].filter(Boolean).join('/') || 'untitled',
    pending: row.pending_elicitations_count,
    failure: row.last_task_error?.message ?? null,
    preview: row.last_message_preview,
  };
}

function stateOf(row: ChildRow): EntryState {
  if (row.current_task_status === 'failed') return 'failed';
  if (row.busy) return row.pending_self > 0 ? 'waiting' : 'running';
  return row.current_task_status === 'completed' ? 'done' : 'new';
}
