import type { EventRegistry } from './event-registry.js';
import type { DomainEvent } from './event-type.js';
import type { CommandRecord, EncodedEvent, EventMetadata } from './recorded-event.js';

export interface EventOrigin {
  readonly id: string;
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  readonly lineage: { readonly root_id: string; readonly ancestor_ids: readonly string[] } | null;
  readonly command: CommandRecord | null;
}

/** Throws when the registry does not know the event's type or shape. */
export function encodeEvent(registry: EventRegistry, event: DomainEvent, origin: EventOrigin): EncodedEvent {
  const metadata: EventMetadata = {
    schema: registry.schemaOf(event),
    $correlationId: origin.correlationId,
    $causationId: origin.causationId,
    actor: origin.actor,
    occurred_at: new Date(origin.occurredAt).toISOString(),
    ...origin.lineage,
    ...(origin.command ? { command: origin.command } : {}),
  };
  // A BigInt would leave the client's promise unsettled; here it throws.
  const bytes = Buffer.byteLength(JSON.stringify({ data: event.data, metadata })) + 2 * event.type.length;
  return { id: origin.id, type: event.type, data: { ...event.data }, metadata, bytes };
}
