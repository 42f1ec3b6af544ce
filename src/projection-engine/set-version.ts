import { createHash } from 'node:crypto';
import type { AnyProjection } from '../../projections/projection-set.js';
import type { EventType } from '../event-store/event-type.js';

const SHOWN_DIGITS = 10;
/** Raised when the engine's own table in a set changes. */
const ENGINE_FORMAT = 2;

/**
 * Names the set: builds with the same projections, tables and event types share one schema, any other fills its own. An
 * event type that an older build cannot read parks streams in the older build's set and not in the newer one's.
 */
export function setVersionOf(
  projections: readonly AnyProjection[],
  eventTypes: readonly EventType[],
  retired: ReadonlySet<string>,
): string {
  const text = JSON.stringify({
    engine: ENGINE_FORMAT,
    projections: projections.map(({ name, version, table }) => ({ name, version, table })),
    eventTypes: eventTypes.map(({ type, schema }) => `${type}@${schema}`),
    retired: [...retired].sort(),
  });
  return createHash('sha256').update(text).digest('hex').slice(0, SHOWN_DIGITS);
}

export function schemaOf(setVersion: string): string {
  return `rollcall_set_${setVersion}`;
}

/** Of tables that a rebuild or an audit fills for itself; served sets are named by their digest alone. */
export function isScratch(setVersion: string): boolean {
  return setVersion.includes('_');
}
