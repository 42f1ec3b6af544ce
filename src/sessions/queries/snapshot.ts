import type { SessionRow } from '../../../projections/sessions/row.js';
import { shownLabels } from '../domain/labels.js';
import { snapshotStatusOf } from '../domain/status.js';
import type { Position } from '../../event-store/position.js';

export interface OpenPromptRow {
  readonly session_id: string;
  readonly elicitation_id: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Epoch seconds. */
  readonly requested_at: number;
}

export interface ItemRow {
  readonly item_id: string;
  readonly response_id: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly created_by: string | null;
  /** Epoch seconds. */
  readonly created_at: number;
}

export interface SnapshotSource {
  readonly session: SessionRow;
  /** Open prompts of the session and of everything below it, in the order of their requests. */
  readonly prompts: readonly OpenPromptRow[];
  /** The latest items, oldest first. */
  readonly items: readonly ItemRow[];
  readonly permissionLevel: number | null;
  /** Liveness stays null when it was not asked for. */
  readonly withLiveness: boolean;
}

/** `contract/sessions.md` 3.2, every field present; the last seven are ours. */
export function toSnapshot({
  session,
  prompts,
  items,
  permissionLevel,
  withLiveness,
}: SnapshotSource): object {
  const own = prompts.filter((prompt) => prompt.session_id === session.id).length;
  return {
    id: session.id,
    agent_id: session.agent_id,
    agent_name: session.agent_name,
    created_at: epochSeconds(session.created_at),
    updated_at: epochSeconds(session.updated_at),
    status: snapshotStatusOf(session.status),
    title: session.title,
    labels: shownLabels(session.labels, session.closed !== null),
    runner_id: null,
    host_id: null,
    runner_online: withLiveness ? true : null,
    host_online: null,
    host_resumable: false,
    reasoning_effort: null,
    model_override: null,
    cost_control_mode_override: null,
    subagent_routing_override: null,
    llm_model: null,
    harness: null,
    context_window: null,
    last_total_tokens: null,
    items: items.map(nestedItem),
    permission_level: permissionLevel,
    kind: session.parent_id === null ? 'default' : 'sub_agent',
    sub_agent_name: null,
    parent_session_id: session.parent_id,
    root_conversation_id: session.root_id,
    total_cost_usd: null,
    usage_by_model: null,
    last_task_error: session.last_task_error,
    external_session_id: null,
    terminal_launch_args: null,
    workspace: null,
    git_branch: null,
    archived: false,
    project_id: null,
    pending_elicitations: prompts.map((prompt) => requestEvent(prompt, session.id)),
    pending_inputs: [],
    todos: [],
    skills: [],
    model_options: null,
    mcp_startup: null,
    terminal_pending: false,
    sandbox_status: null,
    background_task_count: session.background_task_count,
    active_response_id: session.active_response_id,
    owner: session.owner,
    closed: session.closed !== null,
    pending_elicitations_count: prompts.length,
    pending_self: own,
    pending_descendants: prompts.length - own,
    oldest_pending_at: oldest(prompts),
    position: session.position.toString(),
  };
}

/** The full request event (`contract/sessions.md` 7.1); a prompt of a session below says whom to answer. */
export function requestEvent(prompt: OpenPromptRow, shownOn: string): object {
  const target = prompt.session_id === shownOn ? {} : { target_session_id: prompt.session_id };
  return {
    type: 'response.elicitation_request',
    elicitation_id: prompt.elicitation_id,
    method: 'elicitation/create',
    params: { ...prompt.params, ...target },
    sequence_number: null,
  };
}

/** `contract/sessions.md` 5.2. */
export function flatItem(item: ItemRow): { readonly id: string } & Readonly<Record<string, unknown>> {
  return {
    id: item.item_id,
    response_id: item.response_id,
    type: item.type,
    status: 'completed',
    created_at: item.created_at,
    ...item.payload,
    ...(item.created_by === null ? {} : { created_by: item.created_by }),
  };
}

function nestedItem(item: ItemRow): object {
  return {
    id: item.item_id,
    type: item.type,
    status: 'completed',
    response_id: item.response_id,
    created_at: item.created_at,
    data: item.payload,
    created_by: item.created_by,
  };
}

export function epochSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function oldest(prompts: readonly OpenPromptRow[]): number | null {
  return prompts.length === 0 ? null : Math.min(...prompts.map((prompt) => prompt.requested_at));
}

export interface Snapshot {
  readonly body: object;
  /** The checkpoint of the database snapshot it was read in. */
  readonly checkpoint: Position;
  /** Of the last event on the session's own stream. */
  readonly etag: Position;
}
