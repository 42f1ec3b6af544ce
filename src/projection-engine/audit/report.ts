import type { ProjectedEvent } from '../../../projections/projection.js';
import type { ParkedStream } from '../parking.js';
import type { RowDifference } from './row-differences.js';

/** More are not listed (`api.md` 6). */
export const MOST_DIFFERENCES = 1_000;

/** The event that should have set what differs; 64-bit numbers as decimal strings, times as ISO 8601 (`api.md` 6). */
export interface ResponsibleEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: string;
  readonly position: string;
  readonly occurred_at: string;
  readonly recorded_at: string;
  readonly actor: string;
}

export interface Difference {
  readonly projection: string;
  /** The columns of the primary key. */
  readonly key: Readonly<Record<string, string>>;
  /** Null: the whole row is missing (`live` is null) or should not be there (`expected` is null). */
  readonly field: string | null;
  readonly live: unknown;
  readonly expected: unknown;
  /** Null where no event of the log can have made an invented row. */
  readonly event: ResponsibleEvent | null;
}

/** A stream of which a part is in no read model; what is before it was compared. */
export interface ReportedParking {
  readonly stream: string;
  readonly revision: string;
  readonly position: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly reason: string;
  /** `live`: the read models parked it, and so did the audit. `audit`: only the audit's own fold cannot apply it. */
  readonly by: 'live' | 'audit';
}

export interface CheckedTable {
  readonly projection: string;
  readonly rows: number;
}

export interface AuditReport {
  readonly state: 'clean' | 'different';
  /** Up to which the log was folded and compared; null when nothing had been applied yet. */
  readonly position: string | null;
  readonly rows_checked: number;
  readonly tables: readonly CheckedTable[];
  readonly differences: readonly Difference[];
  readonly parked: readonly ReportedParking[];
  /** There are more differences than are listed. */
  readonly truncated: boolean;
}

export function toDifference(
  { projection, key, field, live, expected }: RowDifference,
  primaryKey: readonly string[],
  event: ProjectedEvent | null,
): Difference {
  const named = Object.fromEntries(primaryKey.map((column, index) => [column, key[index] ?? '']));
  return { projection, key: named, field, live, expected, event: event && toResponsible(event) };
}

export function toParking(parked: ParkedStream, by: ReportedParking['by']): ReportedParking {
  const { stream, revision, position, eventId, eventType, reason } = parked;
  return {
    stream,
    revision: revision.toString(),
    position: position.toString(),
    event_id: eventId,
    event_type: eventType,
    reason,
    by,
  };
}

function toResponsible(event: ProjectedEvent): ResponsibleEvent {
  return {
    id: event.id,
    type: event.event.type,
    stream: event.stream,
    revision: event.revision.toString(),
    position: event.position.toString(),
    occurred_at: event.metadata.occurred_at,
    recorded_at: new Date(event.recordedAt).toISOString(),
    actor: event.metadata.actor,
  };
}
