import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent } from '../../../projections/projection.js';
import { FieldAttribution, type WantedRow } from './field-attribution.js';

/** Hands over the same events each time, in the order of the log. */
export type Replay = (take: (event: ProjectedEvent) => void) => Promise<void>;

/**
 * Which event last set each field of the wanted rows. Goes through the log once, and once more for each time that a
 * projector looked at rows that nobody had thought of.
 */
export async function attributeFields(
  replay: Replay,
  projections: readonly AnyProjection[],
  wanted: readonly WantedRow[],
): Promise<FieldAttribution> {
  for (let rows = wanted; ;) {
    const attribution = new FieldAttribution(projections, rows);
    await replay((event) => attribution.apply(event));
    if (!attribution.grew) return attribution;
    rows = attribution.wanted;
  }
}
