import type { Figures } from './engine-figures.js';

/** The figures of the owner, as `GET /health` and `rollcall.projection_sets.figures` give them. */
export interface PublishedFigures {
  readonly checkpoint: string;
  readonly checkpoint_age_ms: number | null;
  /** Events. */
  readonly gap: number;
  readonly gap_estimated: boolean;
  readonly lag_ms: number;
  readonly standstill_ms: number;
  /** Events per second. */
  readonly rate: number;
  readonly last_batch: { readonly events: number; readonly ms: number } | null;
  readonly retries: number;
  /** Events of types that mean nothing (any more), by the owner since its start. */
  readonly passed_over: number;
}

export function publishedFigures(figures: Figures): PublishedFigures {
  const { checkpoint, checkpointAge, gap, gapEstimated, lag, standstill, rate, lastBatch } = figures;
  return {
    checkpoint: checkpoint.toString(),
    checkpoint_age_ms: checkpointAge === null ? null : Math.round(checkpointAge),
    gap,
    gap_estimated: gapEstimated,
    lag_ms: Math.round(lag),
    standstill_ms: Math.round(standstill),
    rate,
    last_batch: lastBatch && { events: lastBatch.events, ms: Math.round(lastBatch.milliseconds * 10) / 10 },
    retries: figures.retries,
    passed_over: figures.passedOver,
  };
}
