import type { AnyProjection } from '../../projections/projection-set.js';
import type { ColumnType } from '../../projections/projection.js';

/** The statements of one read model, made from its definition. */
export interface TableSql {
  readonly create: readonly string[];
  /** $1..$n: one text array per key column. */
  readonly load: string;
  /** $1: a JSON array of rows. */
  readonly write: string;
  /** $1..$n: one text array per key column. */
  readonly remove: string;
}

export function tableSql(schema: string, { table }: AnyProjection): TableSql {
  const columns = Object.entries<ColumnType>(table.columns);
  const name = `${schema}.${table.name}`;
  const names = columns.map(([column]) => column).join(', ');
  const typed = columns.map(([column, type]) => `${column} ${type}`).join(', ');
  const key = table.primaryKey.join(', ');
  const arrays = table.primaryKey.map((_, index) => `$${index + 1}::text[]`).join(', ');
  const match = table.primaryKey.map((column) => `t.${column} = k.${column}`).join(' AND ');
  return {
    create: [
      `CREATE TABLE ${name} (${typed}, PRIMARY KEY (${key}))`,
      ...table.indexes.map((index) => `CREATE INDEX ON ${name} ${index}`),
    ],
    load: `SELECT t.* FROM unnest(${arrays}) AS k(${key}) JOIN ${name} t ON ${match}`,
    write:
      `INSERT INTO ${name} AS t (${names}) SELECT ${names} FROM json_to_recordset($1::json) AS r(${typed})` +
      ` ON CONFLICT (${key}) ${onConflict(columns, table.primaryKey, table.insertOnly)}`,
    remove: `DELETE FROM ${name} t USING unnest(${arrays}) AS k(${key}) WHERE ${match}`,
  };
}

function onConflict(columns: [string, ColumnType][], key: readonly string[], insertOnly: boolean): string {
  if (insertOnly) return 'DO NOTHING';
  const set = columns
    .filter(([column]) => !key.includes(column))
    .map(([column]) => `${column} = excluded.${column}`);
  return `DO UPDATE SET ${set.join(', ')} WHERE t.position < excluded.position`;
}
