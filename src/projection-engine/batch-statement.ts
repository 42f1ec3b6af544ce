import type { Position } from '../event-store/position.js';
import type { RowKey } from '../../projections/projection.js';
import type { TableSql } from './table-sql.js';

export const CHECKPOINT_CHANNEL = 'rollcall_checkpoint';

/** What one table of a batch comes to. */
export interface TableChange {
  /** Tells the tables apart in the names of prepared statements. */
  readonly index: number;
  readonly sql: TableSql;
  /** A JSON array of whole rows; null when none is written. */
  readonly rows: string | null;
  /** A JSON array of keys and hot columns; null when no row is only touched. */
  readonly touched: string | null;
  readonly removed: readonly RowKey[];
}

export interface BatchStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * All rows and the checkpoint in one statement: a batch costs one round trip however many tables it touches. Every
 * part draws on `fence`, which is empty when the epoch is no longer the owner's; then nothing is written at all.
 */
export function batchStatement(
  schema: string,
  owner: { readonly setVersion: string; readonly epoch: bigint },
  changes: readonly TableChange[],
  upTo: Position,
): BatchStatement {
  const values: unknown[] = [owner.setVersion, owner.epoch.toString(), upTo.toString()];
  const placeholder = (value: unknown): string => `$${values.push(value)}`;
  const parts: string[] = [];
  let name = 'batch';
  for (const { index, sql, rows, touched, removed } of changes) {
    if (rows !== null) {
      parts.push(`w${index} AS (${sql.write(placeholder(rows))})`);
      name += `-w${index}`;
    }
    if (touched !== null) {
      parts.push(`h${index} AS (${sql.touch(placeholder(touched))})`);
      name += `-h${index}`;
    }
    if (removed.length > 0) {
      parts.push(`d${index} AS (${sql.remove(transposed(removed).map(placeholder))})`);
      name += `-d${index}`;
    }
  }
  const text = `
    WITH fence AS MATERIALIZED (
      SELECT 1 FROM rollcall.projection_sets WHERE version = $1 AND epoch = $2 FOR SHARE),
    ${parts.map((part) => `${part},`).join('\n')}
    moved AS (
      UPDATE ${schema}.checkpoint SET position = $3, committed_at = clock_timestamp()
      WHERE EXISTS (SELECT FROM fence) AND position < $3 RETURNING position)
    SELECT (SELECT count(*)::int FROM fence) AS held,
      (SELECT pg_notify('${CHECKPOINT_CHANNEL}', $1 || ':' || position) FROM moved)`;
  return { name, text, values };
}

function transposed(keys: readonly RowKey[]): string[][] {
  const width = keys[0]?.length ?? 0;
  return Array.from({ length: width }, (_, column) => keys.map((key) => key[column] ?? ''));
}
