import { agentEventTypes } from '../agents/domain/events.js';
import { elicitationEventTypes } from '../elicitations/domain/events.js';
import { sessionEventTypes } from '../sessions/domain/events.js';
import { EventRegistry } from './event-registry.js';
import type { EventOf, EventType } from './event-type.js';
import { logEventTypes } from './log-events.js';

const definitions = [
  ...sessionEventTypes,
  ...elicitationEventTypes,
  ...agentEventTypes,
  ...logEventTypes,
] as const;

/**
 * Types that were written once and mean nothing any more. Their events are passed over and counted, and park no stream;
 * a type that still means something stays in the catalogue, read through its upcasters.
 */
export const retiredEventTypes: ReadonlySet<string> = new Set<string>();

export const eventCatalogue: readonly EventType[] = definitions;

/** Every event type that this build can write and read. */
export type RollcallEvent = EventOf<(typeof definitions)[number]>;

export function createEventRegistry(): EventRegistry {
  return new EventRegistry(definitions, retiredEventTypes);
}
