import { Type } from '@sinclair/typebox';
import { eventType, type EventOf } from './event-type.js';

/** On `<prefix>log`, once: every checkpoint, cursor and SSE id belongs to this log. */
export const logEventTypes = [
  eventType('LogCreated', 1, Type.Object({ log_id: Type.String() }, { additionalProperties: false })),
] as const;

export type LogEvent = EventOf<(typeof logEventTypes)[number]>;
