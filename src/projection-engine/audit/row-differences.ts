import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ColumnType, RowKey } from '../../../projections/projection.js';
import { isSame, shown } from './column-values.js';

/** A row as it was selected to be compared, by column. */
export type ComparableRow = Readonly<Record<string, unknown>>;

/** One field in which a row of the read models is not what the log says, or a whole row, then `field` is null. */
export interface RowDifference {
  readonly projection: string;
  readonly key: RowKey;
  readonly field: string | null;
  /** What stands in the read models; null also for a row that they lack. */
  readonly live: unknown;
  /** What the log says; null also for a row that there should not be. */
  readonly expected: unknown;
  readonly kind: 'field' | 'missing' | 'invented';
  /** Of the invented row, when it has one. */
  readonly rowPosition: bigint | null;
}

/** How the two rows of one key differ; empty when they do not. */
export function rowDifferences(
  { name, table }: AnyProjection,
  key: RowKey,
  live: ComparableRow | undefined,
  expected: ComparableRow | undefined,
): RowDifference[] {
  const base = { projection: name, key, rowPosition: null };
  const columns = Object.entries<ColumnType>(table.columns).map(([column]) => column);
  if (!live && !expected) return [];
  if (!live) {
    return [{ ...base, field: null, live: null, expected: shownRow(expected ?? {}), kind: 'missing' }];
  }
  if (!expected) {
    const rowPosition = positionOf(live);
    return [{ ...base, field: null, live: shownRow(live), expected: null, kind: 'invented', rowPosition }];
  }
  return columns
    .filter((column) => !isSame(live[column], expected[column]))
    .map((field) => ({
      ...base,
      field,
      live: shown(live[field]),
      expected: shown(expected[field]),
      kind: 'field',
    }));
}

function shownRow(row: ComparableRow): ComparableRow {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, shown(value)]));
}

function positionOf(row: ComparableRow): bigint | null {
  const position = row['position'];
  return typeof position === 'string' ? BigInt(position) : null;
}
