import { LRUCache } from 'lru-cache';
import type { ProjectedRow, RowKey } from '../../projections/projection.js';
import { weightOfJson } from '../text/json-weight.js';
import { keyName, type RowBuffer } from './row-buffer.js';

/** Estimated bytes of the rows of one table. */
const KEPT_WEIGHT = 48 * 1024 * 1024;

type Known = { readonly row: ProjectedRow | null };

/**
 * Rows as they stand in Postgres, kept so that a hot session is not read again for each batch. Only the owner of the
 * set writes them, under an epoch that the commit checks, so nothing else can change them; the cache ends with the
 * owner's connection.
 */
export class RowCache {
  private readonly known: LRUCache<string, Known>;

  constructor(keptRows: number) {
    this.known = new LRUCache<string, Known>({
      max: keptRows,
      maxSize: KEPT_WEIGHT,
      sizeCalculation: ({ row }) => weightOfRow(row),
    });
  }

  /** Puts what is known into the buffer and returns the keys that must be read. */
  fill(buffer: RowBuffer, keys: readonly RowKey[]): RowKey[] {
    return keys.filter((key) => {
      const known = this.known.get(keyName(key));
      if (known?.row) buffer.load(known.row);
      return !known;
    });
  }

  /** After a commit: what the buffer holds for these keys is what Postgres holds. */
  keep(buffer: RowBuffer, keys: readonly RowKey[]): void {
    for (const key of keys) this.known.set(keyName(key), { row: buffer.get(key) ?? null });
  }
}

export function weightOfRow(row: ProjectedRow | null): number {
  if (row === null) return 1;
  let weight = 0;
  for (const value of Object.values(row) as unknown[])
    weight += typeof value === 'bigint' ? 16 : weightOfJson(value);
  return weight;
}
