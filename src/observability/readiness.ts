import type { PublishedFigures } from '../projection-engine/published-figures.js';

/** Events have waited for so long while the checkpoint did not move: the owner lives, but feeds nothing. */
export const STANDSTILL_LIMIT_MS = 10_000;
/** Read models that are further behind than this are not worth asking. */
export const LAG_LIMIT_MS = 60_000;

/** Whether the read models that these figures tell of can be served. */
export function readinessOf(figures: PublishedFigures): 'ok' | 'standing_still' | 'lagging' {
  if (figures.standstill_ms > STANDSTILL_LIMIT_MS) return 'standing_still';
  return figures.lag_ms > LAG_LIMIT_MS ? 'lagging' : 'ok';
}
