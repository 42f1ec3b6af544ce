import type { ProjectedEvent } from '../../projections/projection.js';
import type { RollcallEvent } from '../event-store/catalogue.js';
import { UnreadableEvent, type EventRegistry } from '../event-store/event-registry.js';
import type { RawEvent, RecordedEvent } from '../event-store/recorded-event.js';
import type { StreamNames } from '../event-store/stream-names.js';

export type Reading =
  | { readonly kind: 'readable'; readonly event: ProjectedEvent }
  /** Its type means nothing (any more). */
  | { readonly kind: 'passed-over' }
  /** This build cannot tell what it says: its stream is parked. */
  | { readonly kind: 'unreadable'; readonly reason: string };

/** What the log holds as projectors take it. */
export class EventReader {
  constructor(
    private readonly registry: EventRegistry,
    private readonly names: StreamNames,
  ) {}

  read(raw: RawEvent): Reading {
    if (this.registry.isPassedOver(raw.type)) return { kind: 'passed-over' };
    try {
      // The registry holds the catalogue's types only, so what it returns is one of them.
      const recorded = this.registry.decode(raw) as RecordedEvent<RollcallEvent>;
      return { kind: 'readable', event: { ...recorded, subjectId: this.names.subjectOf(raw.stream) } };
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
      return { kind: 'unreadable', reason: error.reason };
    }
  }
}
