import type { EventLog } from '../../event-store/event-log.js';
import type { Position } from '../../event-store/position.js';
import type { RawEvent } from '../../event-store/recorded-event.js';
import type { StreamNames } from '../../event-store/stream-names.js';
import { NOTHING_APPLIED } from '../set-schema.js';

/** What the projections are fed from, after one position and up to another, in the order of the log. Throws `LogUnavailable`. */
export async function* projectedEvents(
  log: EventLog,
  names: StreamNames,
  after: Position,
  upTo: Position,
): AsyncGenerator<RawEvent> {
  if (after >= upTo) return;
  const prefixes = names.projected();
  for await (const raw of log.readAll(after === NOTHING_APPLIED ? null : after)) {
    if (raw.position > upTo) return;
    if (prefixes.some((prefix) => raw.stream.startsWith(prefix))) yield raw;
  }
}
