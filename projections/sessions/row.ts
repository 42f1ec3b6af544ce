import {
  foldTimes,
  type Envelope,
  type SessionFacts,
  type SessionStreamEvent,
} from '../../src/sessions/domain/facts.js';
import type { CloseReason, TaskError } from '../../src/sessions/domain/events.js';
import type { SessionStatus } from '../../src/sessions/domain/status.js';
import type { ColumnType, ProjectedRow } from '../projection.js';

/** One session, root or child; every column comes from its own stream. */
export interface SessionRow extends ProjectedRow {
  readonly id: string;
  readonly parent_id: string | null;
  readonly root_id: string;
  /** Root first, parent last. */
  readonly ancestor_ids: readonly string[];
  readonly owner: string | null;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly title: string | null;
  readonly renames: number;
  readonly stated_tool: string | null;
  readonly stated_session_name: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly status: SessionStatus;
  readonly active_response_id: string | null;
  readonly background_task_count: number | null;
  readonly last_task_error: TaskError | null;
  readonly closed: CloseReason | null;
  readonly successor_id: string | null;
  /** Its own word; what lies below a deleted session is hidden by `session_deletions` until it is reached. */
  readonly deleted: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  readonly created_position: bigint;
  readonly activity_position: bigint;
}

export const sessionColumns: Readonly<Record<keyof SessionRow, ColumnType>> = {
  id: 'text',
  parent_id: 'text',
  root_id: 'text',
  ancestor_ids: 'text[]',
  owner: 'text',
  agent_id: 'text',
  agent_name: 'text',
  title: 'text',
  renames: 'integer',
  stated_tool: 'text',
  stated_session_name: 'text',
  labels: 'json',
  status: 'text',
  active_response_id: 'text',
  background_task_count: 'integer',
  last_task_error: 'json',
  closed: 'text',
  successor_id: 'text',
  deleted: 'boolean',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  created_position: 'bigint',
  activity_position: 'bigint',
  position: 'bigint',
};

export function rowOf(facts: SessionFacts): SessionRow {
  return {
    id: facts.id,
    parent_id: facts.parentId,
    root_id: facts.rootId,
    ancestor_ids: facts.ancestorIds,
    owner: facts.owner,
    agent_id: facts.agentId,
    agent_name: facts.agentName,
    title: facts.title,
    renames: facts.renames,
    stated_tool: facts.tool,
    stated_session_name: facts.sessionName,
    labels: facts.labels,
    status: facts.status,
    active_response_id: facts.activeResponseId,
    background_task_count: facts.backgroundTaskCount,
    last_task_error: facts.lastTaskError,
    closed: facts.closed,
    successor_id: facts.successorId,
    deleted: facts.deleted,
    created_at: facts.createdAt,
    updated_at: facts.updatedAt,
    created_position: facts.createdPosition,
    activity_position: facts.activityPosition,
    position: facts.position,
  };
}

export function factsOf(row: SessionRow): SessionFacts {
  return {
    id: row.id,
    parentId: row.parent_id,
    rootId: row.root_id,
    ancestorIds: row.ancestor_ids,
    owner: row.owner,
    agentId: row.agent_id,
    agentName: row.agent_name,
    title: row.title,
    renames: row.renames,
    tool: row.stated_tool,
    sessionName: row.stated_session_name,
    labels: row.labels,
    status: row.status,
    activeResponseId: row.active_response_id,
    backgroundTaskCount: row.background_task_count,
    lastTaskError: row.last_task_error,
    closed: row.closed,
    successorId: row.successor_id,
    deleted: row.deleted,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    createdPosition: row.created_position,
    activityPosition: row.activity_position,
    position: row.position,
  };
}

/** The row with what may change in a session's life; made of the one before, since most of it stays. */
export function changedRow<Row extends SessionRow>(row: Row, facts: SessionFacts): Row {
  return {
    ...row,
    title: facts.title,
    renames: facts.renames,
    labels: facts.labels,
    status: facts.status,
    active_response_id: facts.activeResponseId,
    background_task_count: facts.backgroundTaskCount,
    last_task_error: facts.lastTaskError,
    closed: facts.closed,
    successor_id: facts.successorId,
    deleted: facts.deleted,
    updated_at: facts.updatedAt,
    activity_position: facts.activityPosition,
    position: facts.position,
  };
}

/** The row after an event that leaves nothing but its time and place (`leavesOnlyTimes`). */
export function touchedRow<Row extends SessionRow>(row: Row, event: SessionStreamEvent, at: Envelope): Row {
  const before = { updatedAt: row.updated_at, activityPosition: row.activity_position };
  const { position, updatedAt, activityPosition } = foldTimes(before, event, at);
  return { ...row, updated_at: updatedAt, activity_position: activityPosition, position };
}
