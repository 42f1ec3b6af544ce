import { elicitationEventTypes } from '../src/elicitations/domain/events.js';
import type { RollcallEvent } from '../src/event-store/catalogue.js';
import { sessionEventTypes } from '../src/sessions/domain/events.js';
import type { SessionStreamEvent } from '../src/sessions/domain/facts.js';

const onSessionStreams: ReadonlySet<string> = new Set(
  [...sessionEventTypes, ...elicitationEventTypes].map((definition) => definition.type),
);

/** The event if it lives on a session's stream, else null. */
export function asSessionEvent(event: RollcallEvent): SessionStreamEvent | null {
  return isSessionEvent(event) ? event : null;
}

function isSessionEvent(event: RollcallEvent): event is SessionStreamEvent {
  return onSessionStreams.has(event.type);
}
