import { expect, it } from '@jest/globals';
import type { PublishedFigures } from '../projection-engine/published-figures.js';
import { LAG_LIMIT_MS, readinessOf, STANDSTILL_LIMIT_MS } from './readiness.js';

const fine: PublishedFigures = {
  checkpoint: '1',
  checkpoint_age_ms: 9_000_000,
  gap: 5,
  gap_estimated: false,
  lag_ms: LAG_LIMIT_MS,
  standstill_ms: STANDSTILL_LIMIT_MS,
  rate: 0,
  last_batch: null,
  retries: 9,
  passed_over: 9,
};

it('read models up to the limits are served, however long nothing has happened', () => {
  expect(readinessOf(fine)).toBe('ok');
});

it('events that wait while the checkpoint stands are a standstill, before they are a lag', () => {
  expect(readinessOf({ ...fine, standstill_ms: STANDSTILL_LIMIT_MS + 1 })).toBe('standing_still');
  expect(readinessOf({ ...fine, standstill_ms: 99_000, lag_ms: 99_000 })).toBe('standing_still');
});

it('an owner that moves, but too far behind, is not ready', () => {
  expect(readinessOf({ ...fine, standstill_ms: 0, lag_ms: LAG_LIMIT_MS + 1 })).toBe('lagging');
});
