import type { Client } from 'pg';

export type Key = Readonly<Record<string, string>>;

export interface Column {
  readonly name: string;
  readonly type: string;
}

/** The tables of the set as Postgres knows them, so that none is forgotten: name to columns. */
export async function tablesOf(client: Client, schema: string): Promise<Map<string, Column[]>> {
  const { rows } = await client.query<{ table: string; name: string; type: string }>(
    `SELECT table_name AS table, column_name AS name, udt_name AS type FROM information_schema.columns
     WHERE table_schema = $1 AND table_name <> 'checkpoint' ORDER BY ordinal_position`,
    [schema],
  );
  const tables = new Map<string, Column[]>();
  for (const { table, ...column } of rows) tables.set(table, [...(tables.get(table) ?? []), column]);
  return tables;
}

export async function keyColumns(client: Client, schema: string, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT a.attname AS name FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
     WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY array_position(i.indkey, a.attnum)`,
    [`${schema}.${table}`],
  );
  return rows.map(({ name }) => name);
}

/** Another value of the column, as different as can be from none, and as little as can be from one. */
const OTHER: Readonly<Record<string, (column: string) => string>> = {
  text: (column) => `coalesce(${column}, '') || '\u200b'`,
  _text: (column) => `array_append(coalesce(${column}, '{}'), 'planted')`,
  int4: (column) => `coalesce(${column}, 0) + 1`,
  int8: (column) => `coalesce(${column}, 0) + 1`,
  bool: (column) => `NOT ${column}`,
  timestamptz: (column) => `coalesce(${column} + interval '1 microsecond', 'infinity')`,
  json: (column) => `CASE WHEN ${column} IS NULL THEN '{}' ELSE json_build_array(${column}) END`,
};

export async function plantField(
  client: Client,
  table: string,
  key: Key,
  { name, type }: Column,
): Promise<void> {
  const other = OTHER[type];
  if (!other) throw new Error(`no other value is known for a ${type}`);
  await changed(client, `UPDATE ${table} SET ${name} = ${other(name)} WHERE ${where(key)}`, key);
}

export function removeRow(client: Client, table: string, key: Key): Promise<void> {
  return changed(client, `DELETE FROM ${table} WHERE ${where(key)}`, key);
}

/** A copy of a row under a key that nobody has. */
export async function inventRow(
  client: Client,
  table: string,
  columns: readonly Column[],
  key: Key,
  invented: Key,
): Promise<void> {
  const names = columns.map(({ name }) => name);
  const values = names.map((name) => (invented[name] === undefined ? name : literal(invented[name])));
  await changed(
    client,
    `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${table} WHERE ${where(key)}`,
    key,
  );
}

async function changed(client: Client, sql: string, key: Key): Promise<void> {
  const { rowCount } = await client.query(sql, Object.values(key));
  if (rowCount !== 1) throw new Error(`${sql} with ${JSON.stringify(key)} changed ${rowCount} rows`);
}

function where(key: Key): string {
  return Object.keys(key)
    .map((column, index) => `${column} = $${index + 1}`)
    .join(' AND ');
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
