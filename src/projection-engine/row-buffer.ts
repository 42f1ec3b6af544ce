import type { ProjectedRow, RowKey, Rows, TableDefinition } from '../../projections/projection.js';

/** The rows of one table that a batch touches: known beforehand, folded in memory, written once. */
export class RowBuffer implements Rows<ProjectedRow> {
  private readonly rows = new Map<string, ProjectedRow>();
  private readonly loaded = new Map<string, ProjectedRow>();
  private readonly changed = new Map<string, RowKey>();

  constructor(private readonly table: TableDefinition<ProjectedRow>) {}

  load(row: ProjectedRow): void {
    const name = keyName(this.keyOf(row));
    this.rows.set(name, row);
    this.loaded.set(name, row);
  }

  get(key: RowKey): ProjectedRow | undefined {
    return this.rows.get(keyName(key));
  }

  /** Events that come again change nothing. */
  put(row: ProjectedRow): void {
    const key = this.keyOf(row);
    const name = keyName(key);
    const standing = this.rows.get(name);
    if (standing && !supersedes(this.table, row, standing)) return;
    this.rows.set(name, row);
    this.changed.set(name, key);
  }

  remove(key: RowKey): void {
    const name = keyName(key);
    this.loaded.delete(name);
    this.rows.delete(name);
    this.changed.set(name, key);
  }

  written(): ProjectedRow[] {
    return [...this.changed.keys()].flatMap((name) => this.rows.get(name) ?? []);
  }

  removed(): RowKey[] {
    return [...this.changed].filter(([name]) => !this.rows.has(name)).map(([, key]) => key);
  }

  /** Whether nothing but hot columns of a written row differ from the row as it was loaded. */
  isOnlyTouched(row: ProjectedRow): boolean {
    const before = this.loaded.get(keyName(this.keyOf(row))) as unknown as
      Record<string, unknown> | undefined;
    if (!before || this.table.hot.length === 0) return false;
    const after = row as unknown as Record<string, unknown>;
    const hot: readonly string[] = this.table.hot;
    return Object.keys(this.table.columns).every(
      (column) => hot.includes(column) || after[column] === before[column],
    );
  }

  private keyOf(row: ProjectedRow): RowKey {
    const values = row as unknown as Record<string, unknown>;
    return this.table.primaryKey.map((column) => String(values[column]));
  }
}

/** Whether a row holds an event of one of its streams that the standing row does not hold yet. */
export function supersedes(
  { guards, insertOnly }: TableDefinition<ProjectedRow>,
  row: ProjectedRow,
  standing: ProjectedRow,
): boolean {
  if (insertOnly) return row.position < standing.position;
  return guards.some((guard) => guardOf(row, guard) > guardOf(standing, guard));
}

function guardOf(row: ProjectedRow, guard: string): bigint {
  const value = (row as unknown as Readonly<Record<string, unknown>>)[guard];
  return typeof value === 'bigint' ? value : -1n;
}

/** One text for a key of any width; parts cannot run into each other. */
export function keyName(key: RowKey): string {
  return key.length === 1 ? (key[0] ?? '') : JSON.stringify(key);
}
