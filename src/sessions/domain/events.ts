import { Type } from '@sinclair/typebox';
import { eventType, type EventOf } from '../../event-store/event-type.js';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(shape: T) =>
  Type.Union([shape, Type.Null()]);
const closed = { additionalProperties: false };

export const spawnShape = Type.Object(
  {
    session_id: Type.String(),
    parent_session_id: Nullable(Type.String()),
    root_session_id: Type.String(),
    /** Root first, parent last. */
    ancestor_ids: Type.Array(Type.String()),
    owner: Nullable(Type.String()),
    agent_id: Nullable(Type.String()),
    agent_name: Nullable(Type.String()),
    title: Nullable(Type.String()),
    /** Stated by the client; they beat what the title says (design 13.5). */
    tool: Nullable(Type.String()),
    session_name: Nullable(Type.String()),
    labels: Type.Record(Type.String(), Type.String()),
  },
  closed,
);

export const statusShape = Type.Union([
  Type.Literal('running'),
  Type.Literal('waiting'),
  Type.Literal('idle'),
  Type.Literal('failed'),
]);

export const taskErrorShape = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    title: Type.Optional(Type.String()),
    cause: Type.Optional(Type.String()),
    remediation: Type.Optional(Type.String()),
  },
  closed,
);

export const closeReasonShape = Type.Union([
  Type.Literal('done'),
  Type.Literal('cancelled'),
  Type.Literal('compacted'),
]);

/** What reaches a session and everything below it (design 4). */
export const cascadeKindShape = Type.Union([Type.Literal('interrupt'), Type.Literal('delete')]);

/** The intent that a session follows, as one of those below its session; null: it is the intent itself. */
const followsShape = Nullable(
  Type.Object({ session_id: Type.String(), sequence: Type.Integer({ minimum: 1 }) }, closed),
);

/** Children that the stream names up to this event; what is below an intent without children needs no cascade. */
const childrenShape = Type.Integer({ minimum: 0 });

export const sessionEventTypes = [
  eventType('SessionSpawned', 1, spawnShape),
  /** On the parent's stream: takes the open name and carries all that the child's own first event needs. */
  eventType(
    'ChildSpawned',
    1,
    Type.Object({ child_id: Type.String(), name: Nullable(Type.String()), spawn: spawnShape }, closed),
  ),
  /** On the parent's stream. `sequence` counts the renames of this child; the child's own title follows the highest. */
  eventType(
    'ChildRenamed',
    1,
    Type.Object(
      {
        child_id: Type.String(),
        name: Nullable(Type.String()),
        title: Nullable(Type.String()),
        sequence: Type.Integer({ minimum: 1 }),
      },
      closed,
    ),
  ),
  eventType('ChildReleased', 1, Type.Object({ child_id: Type.String() }, closed)),
  /** `sequence`: the parent's rename that this one carries out; absent for roots and closed children. */
  eventType(
    'SessionRenamed',
    1,
    Type.Object(
      { title: Nullable(Type.String()), sequence: Type.Optional(Type.Integer({ minimum: 1 })) },
      closed,
    ),
  ),
  /** Merged over what stands; nothing is removed. */
  eventType('SessionLabelled', 1, Type.Object({ labels: Type.Record(Type.String(), Type.String()) }, closed)),
  eventType(
    'ItemAppended',
    1,
    Type.Object(
      {
        item_id: Type.String(),
        response_id: Type.String(),
        item_type: Type.String(),
        /** The payload of `contract/sessions.md` 5.2 as the client gave it. */
        payload: Type.Object({}, { additionalProperties: true }),
        created_by: Nullable(Type.String()),
      },
      closed,
    ),
  ),
  eventType(
    'SessionStatusChanged',
    1,
    Type.Object(
      {
        status: statusShape,
        /** What was posted, before `contract/sessions.md` 6.8 collapsed it. */
        reported: statusShape,
        response_id: Nullable(Type.String()),
        background_task_count: Nullable(Type.Integer({ minimum: 0 })),
        blocked_on: Nullable(Type.String()),
        output: Nullable(Type.String()),
        error: Nullable(taskErrorShape),
      },
      closed,
    ),
  ),
  eventType(
    'SessionClosed',
    1,
    Type.Object({ reason: closeReasonShape, successor_session_id: Nullable(Type.String()) }, closed),
  ),
  /** Nobody works in the session any more. `sequence` counts the interrupts of this very session. */
  eventType(
    'SessionInterrupted',
    1,
    Type.Object(
      {
        requested: Type.Union([Type.Literal('interrupt'), Type.Literal('stop')]),
        /** The turn that it ended. */
        response_id: Nullable(Type.String()),
        sequence: Type.Integer({ minimum: 1 }),
        follows: followsShape,
        children: childrenShape,
      },
      closed,
    ),
  ),
  eventType('SessionDeleted', 1, Type.Object({ follows: followsShape, children: childrenShape }, closed)),
  /** Everything below this session's intent of this kind and sequence has been reached. */
  eventType(
    'CascadeCompleted',
    1,
    Type.Object({ kind: cascadeKindShape, sequence: Type.Integer({ minimum: 1 }) }, closed),
  ),
] as const;

export type SessionEvent = EventOf<(typeof sessionEventTypes)[number]>;
export type SessionSpawn = Extract<SessionEvent, { type: 'SessionSpawned' }>['data'];
export type ReportedStatus = Extract<SessionEvent, { type: 'SessionStatusChanged' }>['data']['status'];
export type TaskError = NonNullable<Extract<SessionEvent, { type: 'SessionStatusChanged' }>['data']['error']>;
export type CloseReason = Extract<SessionEvent, { type: 'SessionClosed' }>['data']['reason'];
export type InterruptRequest = Extract<SessionEvent, { type: 'SessionInterrupted' }>['data']['requested'];
export type CascadeKind = Extract<SessionEvent, { type: 'CascadeCompleted' }>['data']['kind'];
