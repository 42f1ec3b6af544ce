import type { ProjectedEvent } from '../../../projections/projection.js';
import type { RollcallEvent } from '../../event-store/catalogue.js';
import { UnreadableEvent, type EventRegistry } from '../../event-store/event-registry.js';
import type { Position } from '../../event-store/position.js';
import type { RawEvent, RecordedEvent } from '../../event-store/recorded-event.js';
import type { StreamNames } from '../../event-store/stream-names.js';

export interface Reading {
  readonly registry: EventRegistry;
  readonly names: StreamNames;
  /** From which position on the events of a stream are left out. */
  readonly leftOut: ReadonlyMap<string, Position>;
  readonly signal: AbortSignal;
}

/** Events as projectors take them, without those of parked streams. Throws the signal's reason. */
export async function* readableEvents(
  raws: AsyncIterable<RawEvent>,
  { registry, names, leftOut, signal }: Reading,
): AsyncGenerator<ProjectedEvent> {
  const unreadable = new Set<string>();
  for await (const raw of raws) {
    signal.throwIfAborted();
    const { stream, position } = raw;
    if (registry.isPassedOver(raw.type)) continue;
    if (unreadable.has(stream) || position >= (leftOut.get(stream) ?? position + 1n)) continue;
    try {
      // The registry holds the catalogue's types only, so what it returns is one of them.
      const recorded = registry.decode(raw) as RecordedEvent<RollcallEvent>;
      yield { ...recorded, subjectId: names.subjectOf(stream) };
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
      unreadable.add(stream);
    }
  }
}
