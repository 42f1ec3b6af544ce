import type { ColumnType, ProjectedRow } from '../../projections/projection.js';

/** A projector made a value that its column cannot hold: the fault lies in an event, not in the database. */
export class UnstorableValue extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnstorableValue';
  }
}

export type Columns = Readonly<Record<string, ColumnType>>;

/** The named columns of a row as one object of the JSON array that `json_to_recordset` reads; it takes what is left out as null. */
export function toJsonRow(
  names: readonly string[],
  columns: Columns,
  row: ProjectedRow,
): Record<string, unknown> {
  const values = row as unknown as Record<string, unknown>;
  const json: Record<string, unknown> = {};
  for (const name of names) {
    const value = values[name];
    if (value !== null && value !== undefined) json[name] = toJsonValue(columns[name], value);
  }
  return json;
}

/** A row as the driver gives it, in the projection's own types. */
export function fromDatabase(columns: Columns, source: Record<string, unknown>): ProjectedRow {
  const row: Record<string, unknown> = {};
  for (const column in columns) row[column] = fromColumn(columns[column], source[column]);
  return row as unknown as ProjectedRow;
}

function toJsonValue(type: ColumnType | undefined, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return type === 'timestamptz' && typeof value === 'number' ? toTime(value) : value;
}

let latest = { milliseconds: Number.NaN, text: '' };

/** One event often makes several rows, and one append several events. */
export function toTime(milliseconds: number): string {
  if (latest.milliseconds !== milliseconds) latest = { milliseconds, text: timeOf(milliseconds) };
  return latest.text;
}

function timeOf(milliseconds: number): string {
  const time = new Date(milliseconds);
  if (Number.isNaN(time.getTime())) throw new UnstorableValue(`${milliseconds} is no timestamptz`);
  return time.toISOString();
}

function fromColumn(type: ColumnType | undefined, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'bigint' && typeof value === 'string') return BigInt(value);
  return value instanceof Date ? value.getTime() : value;
}
