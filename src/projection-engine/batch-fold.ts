import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedEvent, RowKey } from '../../projections/projection.js';
import { keyName, RowBuffer } from './row-buffer.js';

/** A projector threw on an event: the stream of that event is parked. */
export class ProjectorFailure extends Error {
  constructor(
    readonly event: ProjectedEvent,
    readonly projection: string,
    cause: unknown,
  ) {
    super(`projection ${projection} failed on ${event.event.type} of ${event.stream}`, { cause });
    this.name = 'ProjectorFailure';
  }
}

/** The distinct keys that the events touch. Throws `ProjectorFailure`. */
export function keysTouched(projection: AnyProjection, events: readonly ProjectedEvent[]): RowKey[] {
  const keys = new Map<string, RowKey>();
  for (const event of events) {
    for (const key of guarded(projection, event, () => projection.keysOf(event))) keys.set(keyName(key), key);
  }
  return [...keys.values()];
}

/** Applies the events in order to rows already loaded. Pure but for the buffer. Throws `ProjectorFailure`. */
export function foldInto(
  buffer: RowBuffer,
  projection: AnyProjection,
  events: readonly ProjectedEvent[],
): void {
  for (const event of events) guarded(projection, event, () => projection.apply(event, buffer));
}

export function emptyBuffer(projection: AnyProjection): RowBuffer {
  return new RowBuffer(projection.table);
}

function guarded<T>(projection: AnyProjection, event: ProjectedEvent, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ProjectorFailure(event, projection.name, error);
  }
}
