/**
 * For a session whose past is: spawned, running, said something, asked, renamed, labelled, answered, failed, closed:
 * which event last set each column. A second reading of the projections, by hand.
 */
const SPAWNED = ['SessionSpawned'];
const FAILED = ['SessionStatusChanged', 'failed'];

const sessionColumns: Readonly<Record<string, readonly string[]>> = {
  parent_id: SPAWNED,
  root_id: SPAWNED,
  ancestor_ids: SPAWNED,
  owner: SPAWNED,
  agent_id: SPAWNED,
  agent_name: SPAWNED,
  title: ['SessionRenamed'],
  renames: ['SessionRenamed'],
  stated_tool: SPAWNED,
  stated_session_name: SPAWNED,
  labels: FAILED,
  status: FAILED,
  active_response_id: FAILED,
  background_task_count: SPAWNED,
  last_task_error: FAILED,
  closed: ['SessionClosed'],
  successor_id: ['SessionClosed'],
  deleted: SPAWNED,
  created_at: SPAWNED,
  updated_at: ['SessionClosed'],
  created_position: SPAWNED,
  activity_position: ['SessionClosed'],
  position: ['SessionClosed'],
};

const all = (columns: readonly string[], type: string): Record<string, readonly string[]> =>
  Object.fromEntries(columns.map((column) => [column, [type]]));

const ASKED = 'ElicitationRequested';
const ANSWERED = 'ElicitationResolved';

/** By table and column the type of the event, and for a status the status that it names. */
export const setters: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  sessions: sessionColumns,
  child_session_summary: {
    ...sessionColumns,
    tool: ['SessionRenamed'],
    session_name: ['SessionRenamed'],
    busy: FAILED,
    current_task_status: FAILED,
    last_message_preview: ['ItemAppended'],
  },
  // What a child that is running and has asked contributes to its parent.
  session_rollups: {
    pending: [ASKED],
    busy: ['SessionStatusChanged', 'running'],
    oldest_pending_at: [ASKED],
    open_prompts: ['SessionStatusChanged', 'running'],
    settled_prompts: ['SessionStatusChanged', 'running'],
    position: [ASKED],
  },
  session_items: all(
    ['response_id', 'type', 'payload', 'created_by', 'created_at', 'position'],
    'ItemAppended',
  ),
  pending_elicitations: {
    ...all(
      [
        'root_id',
        'ancestor_ids',
        'params',
        'response_id',
        'expires_at',
        'requested_at',
        'requested_position',
      ],
      ASKED,
    ),
    ...all(['resolved_by', 'withdrawn_reason'], ASKED),
    ...all(['state', 'action', 'content', 'resolved_via', 'settled_at', 'position'], ANSWERED),
  },
  session_deletions: all(['root_id', 'running', 'position'], 'SessionDeleted'),
  command_keys: all(['hash', 'status', 'result', 'recorded_at', 'position'], 'SessionLabelled'),
  agents: all(
    ['name', 'owner', 'harness', 'sub_agents', 'spec', 'created_at', 'updated_at', 'position'],
    'AgentRegistered',
  ),
  // Of a birth that the child's own first event has met.
  obligations: {
    ...all(
      ['parent_id', 'cause_id', 'correlation_id', 'met_sequence', 'owed_at', 'owed_position'],
      'ChildSpawned',
    ),
    ...all(['payload', 'met', 'met_position', 'position'], 'SessionSpawned'),
  },
};
