import { createHash } from 'node:crypto';
import type { AnyProjection } from '../../projections/projection-set.js';

const SHOWN_DIGITS = 10;

/** Names the set: the same projections with the same tables share one schema, anything else fills its own. */
export function setVersionOf(projections: readonly AnyProjection[]): string {
  const text = JSON.stringify(projections.map(({ name, version, table }) => ({ name, version, table })));
  return createHash('sha256').update(text).digest('hex').slice(0, SHOWN_DIGITS);
}

export function schemaOf(setVersion: string): string {
  return `rollcall_set_${setVersion}`;
}
