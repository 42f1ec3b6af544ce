import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent } from '../../../projections/projection.js';
import { attributeFields, type Replay } from '../attribution/attribute-fields.js';
import type { RowPast } from '../attribution/field-attribution.js';
import type { RowDifference } from './row-differences.js';

/**
 * For each difference the event that should have set what differs. A row that should not be there: the event that took
 * it away, else the one at the row's own position if it touches that key, else null.
 */
export async function responsibleEvents(
  replay: Replay,
  projections: readonly AnyProjection[],
  differences: readonly RowDifference[],
): Promise<(ProjectedEvent | null)[]> {
  if (differences.length === 0) return [];
  const wanted = differences.map(({ projection, key, rowPosition }) => ({
    projection,
    key,
    ...(rowPosition === null ? {} : { at: rowPosition }),
  }));
  const attribution = await attributeFields(replay, projections, wanted);
  return differences.map((difference) => {
    const past = attribution.pastOf(difference.projection, difference.key);
    return past && responsible(difference, past);
  });
}

function responsible({ kind, field }: RowDifference, past: RowPast): ProjectedEvent | null {
  switch (kind) {
    case 'field':
      return past.fields.get(field ?? '') ?? null;
    case 'missing':
      return past.writtenBy;
    case 'invented':
      return past.removedBy ?? past.at;
  }
}
