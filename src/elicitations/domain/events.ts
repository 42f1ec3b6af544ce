import { Type } from '@sinclair/typebox';
import { eventType, type EventOf } from '../../event-store/event-type.js';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(shape: T) =>
  Type.Union([shape, Type.Null()]);
const closed = { additionalProperties: false };

export const actionShape = Type.Union([
  Type.Literal('accept'),
  Type.Literal('decline'),
  Type.Literal('cancel'),
]);

/** Prompts live on the stream of the session that asks, keyed with it (design 13.1). */
export const elicitationEventTypes = [
  eventType(
    'ElicitationRequested',
    1,
    Type.Object(
      {
        elicitation_id: Type.String({ minLength: 1 }),
        /** `contract/sessions.md` 7.1: mode, message, requestedSchema, url, phase, … as clients will get them. */
        params: Type.Object({}, { additionalProperties: true }),
        response_id: Nullable(Type.String()),
        /** Epoch seconds. */
        expires_at: Nullable(Type.Number()),
      },
      closed,
    ),
  ),
  eventType(
    'ElicitationResolved',
    1,
    Type.Object(
      {
        elicitation_id: Type.String({ minLength: 1 }),
        action: actionShape,
        /** Kept only on accept (design 13.8). */
        content: Nullable(Type.Object({}, { additionalProperties: true })),
        by: Nullable(Type.String()),
        /** The surface that the verdict came through: `resolve` or `event`. */
        via: Type.String(),
      },
      closed,
    ),
  ),
  eventType('ElicitationExpired', 1, Type.Object({ elicitation_id: Type.String({ minLength: 1 }) }, closed)),
  eventType(
    'ElicitationWithdrawn',
    2,
    Type.Object(
      {
        elicitation_id: Type.String({ minLength: 1 }),
        reason: Type.Union([
          Type.Literal('failed'),
          Type.Literal('idle'),
          Type.Literal('closed'),
          Type.Literal('answered_elsewhere'),
          Type.Literal('interrupted'),
          Type.Literal('deleted'),
        ]),
      },
      closed,
    ),
    // Schema 2 knows two more reasons.
    { 1: (data) => data },
  ),
] as const;

export type ElicitationEvent = EventOf<(typeof elicitationEventTypes)[number]>;
export type ElicitationAction = Extract<ElicitationEvent, { type: 'ElicitationResolved' }>['data']['action'];
export type WithdrawalReason = Extract<ElicitationEvent, { type: 'ElicitationWithdrawn' }>['data']['reason'];
