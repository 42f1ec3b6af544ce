import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent } from '../../../projections/projection.js';
import { FieldAttribution, type WantedRow } from './field-attribution.js';

/**
 * Which event last set each field of the wanted rows. Goes through the log once, and once more for each time that a
 * projector looked at rows that nobody had thought of. `events` gives the same events each time, in the order of the log.
 */
export async function attributeFields(
  events: () => AsyncIterable<ProjectedEvent>,
  projections: readonly AnyProjection[],
  wanted: readonly WantedRow[],
): Promise<FieldAttribution> {
  for (let rows = wanted; ;) {
    const attribution = new FieldAttribution(projections, rows);
    for await (const event of events()) attribution.apply(event);
    if (!attribution.grew) return attribution;
    rows = attribution.wanted;
  }
}
