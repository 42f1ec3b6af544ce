import type { ElicitationEvent } from '../../elicitations/domain/events.js';
import type { CloseReason, SessionEvent, SessionSpawn, TaskError } from './events.js';
import {
  mergeLabels,
  statesTaskError,
  taskErrorIn,
  taskErrorLabels,
  withoutTaskError,
  type Labels,
} from './labels.js';
import { isBusy, type SessionStatus } from './status.js';

/** Where and when the log holds an event. */
export interface Envelope {
  readonly position: bigint;
  /** Epoch milliseconds, the log's clock. */
  readonly recordedAt: number;
}

/** What is true of one session. Folded in one place for decisions, the `sessions` rows, rebuild and audit. */
export interface SessionFacts {
  readonly id: string;
  readonly parentId: string | null;
  readonly rootId: string;
  readonly ancestorIds: readonly string[];
  readonly owner: string | null;
  readonly agentId: string | null;
  readonly agentName: string | null;
  readonly title: string | null;
  /** The newest of the parent's renames that was carried out; 0 before the first. */
  readonly renames: number;
  readonly tool: string | null;
  readonly sessionName: string | null;
  readonly labels: Labels;
  readonly status: SessionStatus;
  readonly activeResponseId: string | null;
  readonly backgroundTaskCount: number | null;
  readonly lastTaskError: TaskError | null;
  readonly closed: CloseReason | null;
  readonly successorId: string | null;
  readonly deleted: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly createdPosition: bigint;
  /** Of the last event that counts as the session's own activity: what `sort_by=updated_at` sorts by. */
  readonly activityPosition: bigint;
  /** Of the last event on the session's own stream. */
  readonly position: bigint;
}

export type SessionStreamEvent = SessionEvent | ElicitationEvent;

export function foldFacts(
  facts: SessionFacts | null,
  event: SessionStreamEvent,
  at: Envelope,
): SessionFacts | null {
  if (event.type === 'SessionSpawned') return facts ?? spawned(event.data, at);
  if (facts === null) return null;
  const times = foldTimes(facts, event, at);
  return changesFacts(event) ? { ...facts, ...changeOf(facts, event), ...times } : { ...facts, ...times };
}

type FactChange = Extract<
  SessionEvent,
  {
    type:
      | 'SessionRenamed'
      | 'SessionLabelled'
      | 'SessionStatusChanged'
      | 'SessionClosed'
      | 'SessionInterrupted'
      | 'SessionDeleted';
  }
>;

/** A record, so that the compiler asks for every type. */
const FACT_CHANGES: Readonly<Record<FactChange['type'], true>> = {
  SessionRenamed: true,
  SessionLabelled: true,
  SessionStatusChanged: true,
  SessionClosed: true,
  SessionInterrupted: true,
  SessionDeleted: true,
};

/** True for the many events, items above all, that leave nothing but their time and place. */
export function leavesOnlyTimes(event: SessionStreamEvent): boolean {
  return event.type !== 'SessionSpawned' && !changesFacts(event);
}

function changesFacts(event: SessionStreamEvent): event is FactChange {
  return Object.hasOwn(FACT_CHANGES, event.type);
}

function spawned(spawn: SessionSpawn, at: Envelope): SessionFacts {
  return {
    id: spawn.session_id,
    parentId: spawn.parent_session_id,
    rootId: spawn.root_session_id,
    ancestorIds: spawn.ancestor_ids,
    owner: spawn.owner,
    agentId: spawn.agent_id,
    agentName: spawn.agent_name,
    title: spawn.title,
    renames: 0,
    tool: spawn.tool,
    sessionName: spawn.session_name,
    labels: spawn.labels,
    status: 'none',
    activeResponseId: null,
    backgroundTaskCount: null,
    lastTaskError: taskErrorIn(spawn.labels),
    closed: null,
    successorId: null,
    deleted: false,
    createdAt: at.recordedAt,
    updatedAt: at.recordedAt,
    createdPosition: at.position,
    activityPosition: at.position,
    position: at.position,
  };
}

function changeOf(facts: SessionFacts, event: FactChange): Partial<SessionFacts> {
  switch (event.type) {
    case 'SessionRenamed':
      return { title: event.data.title, renames: event.data.sequence ?? facts.renames };
    case 'SessionLabelled': {
      const labels = mergeLabels(facts.labels, event.data.labels);
      return statesTaskError(event.data.labels) ? { labels, lastTaskError: taskErrorIn(labels) } : { labels };
    }
    case 'SessionStatusChanged':
      return statusChange(facts, event.data);
    case 'SessionClosed':
      return { closed: event.data.reason, successorId: event.data.successor_session_id, ...turnOver(facts) };
    case 'SessionInterrupted':
      return turnOver(facts);
    case 'SessionDeleted':
      return { deleted: true, ...turnOver(facts) };
  }
}

/** Nobody works in it any more: a child closed in the middle of a turn must not keep its parent busy. */
function turnOver({ status }: SessionFacts): Partial<SessionFacts> {
  return isBusy(status) ? { status: 'idle', activeResponseId: null } : {};
}

type StatusChange = Extract<SessionEvent, { type: 'SessionStatusChanged' }>['data'];

function statusChange(facts: SessionFacts, change: StatusChange): Partial<SessionFacts> {
  const active = change.status === 'running' || change.status === 'waiting';
  return {
    status: change.status,
    activeResponseId: active ? (change.response_id ?? facts.activeResponseId) : null,
    backgroundTaskCount: countAfter(facts, change),
    ...(change.status === 'running' ? { lastTaskError: null, labels: withoutTaskError(facts.labels) } : {}),
    ...(change.error === null
      ? {}
      : { lastTaskError: change.error, labels: mergeLabels(facts.labels, taskErrorLabels(change.error)) }),
  };
}

/** `contract/sessions.md` 6.10: above 0 is stored, 0 and failed clear it, absent leaves it. */
function countAfter(facts: SessionFacts, change: StatusChange): number | null {
  if (change.status === 'failed' || change.background_task_count === 0) return null;
  return change.background_task_count ?? facts.backgroundTaskCount;
}

/** Book-keeping about what lies below moves the revision, not the session's own activity. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'ChildSpawned',
  'ChildRenamed',
  'ChildReleased',
  'CascadeCompleted',
]);

export function foldTimes(
  { updatedAt, activityPosition }: Pick<SessionFacts, 'updatedAt' | 'activityPosition'>,
  event: SessionStreamEvent,
  { position, recordedAt }: Envelope,
): Pick<SessionFacts, 'updatedAt' | 'activityPosition' | 'position'> {
  return BOOKKEEPING.has(event.type)
    ? { position, updatedAt, activityPosition }
    : { position, updatedAt: Math.max(updatedAt, recordedAt), activityPosition: position };
}
