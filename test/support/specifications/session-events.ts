import type {
  ElicitationAction,
  ElicitationEvent,
  WithdrawalReason,
} from '../../../src/elicitations/domain/events.js';
import type {
  CascadeKind,
  CloseReason,
  ReportedStatus,
  SessionEvent,
  SessionSpawn,
} from '../../../src/sessions/domain/events.js';

/** Events of a session's stream with everything filled in that a specification does not care about. */
type DataOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>['data'];

export const spawnOf = (id: string, stated: Partial<SessionSpawn> = {}): SessionSpawn => ({
  session_id: id,
  parent_session_id: null,
  root_session_id: id,
  ancestor_ids: [],
  owner: null,
  agent_id: null,
  agent_name: null,
  title: null,
  tool: null,
  session_name: null,
  labels: {},
  ...stated,
});

/** `line` names the ancestors, root first. */
export const childSpawnOf = (
  id: string,
  line: readonly string[],
  stated: Partial<SessionSpawn> = {},
): SessionSpawn =>
  spawnOf(id, {
    parent_session_id: line.at(-1) ?? null,
    root_session_id: line[0] ?? id,
    ancestor_ids: [...line],
    ...stated,
  });

export const spawned = (data: SessionSpawn): SessionEvent => ({ type: 'SessionSpawned', data });

export const childSpawned = (spawn: SessionSpawn): SessionEvent => ({
  type: 'ChildSpawned',
  data: { child_id: spawn.session_id, name: spawn.title === '' ? null : spawn.title, spawn },
});

export const childRenamed = (childId: string, title: string | null, sequence = 1): SessionEvent => ({
  type: 'ChildRenamed',
  data: { child_id: childId, name: title === '' ? null : title, title, sequence },
});

export const childReleased = (childId: string): SessionEvent => ({
  type: 'ChildReleased',
  data: { child_id: childId },
});

export const renamed = (title: string | null, sequence?: number): SessionEvent => ({
  type: 'SessionRenamed',
  data: { title, ...(sequence === undefined ? {} : { sequence }) },
});

export const labelled = (labels: Readonly<Record<string, string>>): SessionEvent => ({
  type: 'SessionLabelled',
  data: { labels },
});

export const statusChanged = (
  status: ReportedStatus,
  stated: Partial<DataOf<'SessionStatusChanged'>> = {},
): SessionEvent => ({
  type: 'SessionStatusChanged',
  data: {
    status,
    reported: status,
    response_id: null,
    background_task_count: null,
    blocked_on: null,
    output: null,
    error: null,
    ...stated,
  },
});

export const itemAppended = (
  itemId: string,
  itemType: string,
  payload: DataOf<'ItemAppended'>['payload'],
): SessionEvent => ({
  type: 'ItemAppended',
  data: { item_id: itemId, response_id: `resp_${itemId}`, item_type: itemType, payload, created_by: null },
});

export const message = (
  itemId: string,
  role: 'user' | 'assistant',
  text: string,
  more: object = {},
): SessionEvent =>
  itemAppended(itemId, 'message', {
    role,
    content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
    ...more,
  });

export const closed = (reason: CloseReason = 'done', successor: string | null = null): SessionEvent => ({
  type: 'SessionClosed',
  data: { reason, successor_session_id: successor },
});

type Follows = DataOf<'SessionInterrupted'>['follows'];

/** The intent that a session below `top` follows. */
export const after = (top: string, sequence = 1): Follows => ({ session_id: top, sequence });

export const interrupted = (stated: Partial<DataOf<'SessionInterrupted'>> = {}): SessionEvent => ({
  type: 'SessionInterrupted',
  data: { requested: 'interrupt', response_id: null, sequence: 1, follows: null, children: 0, ...stated },
});

export const deleted = (children = 0, follows: Follows = null): SessionEvent => ({
  type: 'SessionDeleted',
  data: { follows, children },
});

export const cascadeCompleted = (kind: CascadeKind, sequence = 1): SessionEvent => ({
  type: 'CascadeCompleted',
  data: { kind, sequence },
});

export const requested = (
  id: string,
  params: Readonly<Record<string, unknown>> = { mode: 'form', message: 'Go on?' },
  responseId: string | null = null,
): ElicitationEvent => ({
  type: 'ElicitationRequested',
  data: { elicitation_id: id, params, response_id: responseId, expires_at: null },
});

export const resolved = (id: string, action: ElicitationAction): ElicitationEvent => ({
  type: 'ElicitationResolved',
  data: { elicitation_id: id, action, content: null, by: null, via: 'resolve' },
});

export const expired = (id: string): ElicitationEvent => ({
  type: 'ElicitationExpired',
  data: { elicitation_id: id },
});

export const withdrawn = (id: string, reason: WithdrawalReason): ElicitationEvent => ({
  type: 'ElicitationWithdrawn',
  data: { elicitation_id: id, reason },
});
