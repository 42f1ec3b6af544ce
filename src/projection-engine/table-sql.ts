import type { AnyProjection } from '../../projections/projection-set.js';
import type { ColumnType, ProjectedRow } from '../../projections/projection.js';

/** The statements of one read model, made from its definition. */
export interface TableSql {
  readonly create: readonly string[];
  /** $1..$n: one text array per key column. */
  readonly load: string;
  /** Upserts the rows of a JSON array, unless `fence` is empty. */
  write(rows: string): string;
  /** Updates the hot columns of rows that exist, from a JSON array, unless `fence` is empty. */
  touch(rows: string): string;
  /** Deletes by one text array per key column, unless `fence` is empty. */
  remove(keys: readonly string[]): string;
}

export function tableSql(schema: string, { table }: AnyProjection): TableSql {
  const columns = Object.entries<ColumnType>(table.columns);
  const name = `${schema}.${table.name}`;
  const names = columns.map(([column]) => column).join(', ');
  const sources = columns.map(([column]) => `r.${column}`).join(', ');
  const typed = columns.map(([column, type]) => `${column} ${type}`).join(', ');
  const typedHot = hotColumns(table)
    .map((column) => `${column} ${table.columns[column]}`)
    .join(', ');
  const key = table.primaryKey.join(', ');
  const match = table.primaryKey.map((column) => `t.${column} = k.${column}`).join(' AND ');
  const arrays = (placeholders: readonly string[]): string =>
    placeholders.map((placeholder) => `${placeholder}::text[]`).join(', ');
  const own = table.primaryKey.map((_, index) => `$${index + 1}`);
  return {
    create: [
      `CREATE TABLE ${name} (${typed}, PRIMARY KEY (${key}))`,
      ...table.indexes.map((index) => `CREATE INDEX ON ${name} ${index}`),
    ],
    load: `SELECT t.* FROM unnest(${arrays(own)}) AS k(${key}) JOIN ${name} t ON ${match}`,
    write: (rows) =>
      `INSERT INTO ${name} AS t (${names}) SELECT ${sources} FROM fence, json_to_recordset(${rows}::json) AS r(${typed})` +
      ` ON CONFLICT (${key}) ${onConflict(columns, table)}`,
    touch: (rows) =>
      `UPDATE ${name} t SET ${table.hot.map((column) => `${column} = k.${column}`).join(', ')}` +
      ` FROM fence, json_to_recordset(${rows}::json) AS k(${typedHot}) WHERE ${match} AND ${newer(table.guards, 'k')}`,
    remove: (keys) =>
      `DELETE FROM ${name} t USING fence, unnest(${arrays(keys)}) AS k(${key}) WHERE ${match}`,
  };
}

/** What identifies a row, and what of it is written when only that has changed. */
export function hotColumns({ primaryKey, hot }: AnyProjection['table']): readonly (keyof ProjectedRow)[] {
  return [...primaryKey, ...hot];
}

function onConflict(
  columns: [string, ColumnType][],
  { primaryKey, guards, insertOnly }: AnyProjection['table'],
): string {
  const key: readonly string[] = primaryKey;
  const set = columns
    .filter(([column]) => !key.includes(column))
    .map(([column]) => `${column} = excluded.${column}`);
  const guard = insertOnly ? 'excluded.position < t.position' : newer(guards, 'excluded');
  return `DO UPDATE SET ${set.join(', ')} WHERE ${guard}`;
}

/** A row holds an event of one of its streams that the standing row `t` does not hold yet. */
function newer(guards: readonly string[], row: string): string {
  const each = guards.map((guard) => `coalesce(t.${guard}, -1) < coalesce(${row}.${guard}, -1)`);
  return each.length === 1 ? each.join() : `(${each.join(' OR ')})`;
}
