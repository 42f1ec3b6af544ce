import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const UUID_BYTES = 16;
const POOL = new Uint8Array(1_024 * UUID_BYTES);
let used = POOL.length;

/** Asking the system for every id's randomness alone costs more than making the id. */
function pooledRandomness(): Uint8Array {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  used += UUID_BYTES;
  // A copy: the maker of the id writes into what it gets.
  return POOL.slice(used - UUID_BYTES, used);
}

/** A UUIDv7. Ids of one millisecond are in no order: the log's positions are what orders. */
export function newUuid(): string {
  return v7({ rng: pooledRandomness });
}
