import type { ResolvedEvent } from '@eventstore/db-client';
import type { RawEvent } from './recorded-event.js';

/** Null for what has no event of its own (a link whose target is gone). */
export function toRawEvent(resolved: ResolvedEvent): RawEvent | null {
  const event = resolved.event;
  const position = event?.position?.commit ?? resolved.commitPosition;
  if (!event || position === undefined) return null;
  return {
    id: event.id,
    type: event.type,
    stream: event.streamId,
    revision: event.revision,
    position,
    recordedAt: event.created.getTime(),
    data: event.data,
    metadata: event.metadata,
  };
}
