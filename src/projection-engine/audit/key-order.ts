import type { RowKey } from '../../../projections/projection.js';

/** Below 0, 0 or above 0, part by part in the order of `COLLATE "C"`: by the bytes of UTF-8, not by UTF-16. */
export function compareKeys(one: RowKey, other: RowKey): number {
  for (const [index, part] of one.entries()) {
    const against = other[index] ?? '';
    if (part !== against) return Buffer.compare(Buffer.from(part), Buffer.from(against));
  }
  return 0;
}
