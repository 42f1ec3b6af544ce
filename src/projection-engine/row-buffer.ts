import type { ProjectedRow, RowKey, Rows, TableDefinition } from '../../projections/projection.js';

/** The rows of one table that a batch touches: known beforehand, folded in memory, written once. */
export class RowBuffer implements Rows<ProjectedRow> {
  private readonly rows = new Map<string, ProjectedRow>();
  private readonly changed = new Map<string, RowKey>();

  constructor(private readonly table: TableDefinition<ProjectedRow>) {}

  load(row: ProjectedRow): void {
    this.rows.set(keyName(this.keyOf(row)), row);
  }

  get(key: RowKey): ProjectedRow | undefined {
    return this.rows.get(keyName(key));
  }

  /** A row that was written by this event or a later one stays as it is: events that come again change nothing. */
  put(row: ProjectedRow): void {
    const key = this.keyOf(row);
    const name = keyName(key);
    const standing = this.rows.get(name);
    if (standing && (this.table.insertOnly || standing.position >= row.position)) return;
    this.rows.set(name, row);
    this.changed.set(name, key);
  }

  remove(key: RowKey): void {
    const name = keyName(key);
    this.rows.delete(name);
    this.changed.set(name, key);
  }

  written(): ProjectedRow[] {
    return [...this.changed.keys()].flatMap((name) => this.rows.get(name) ?? []);
  }

  removed(): RowKey[] {
    return [...this.changed].filter(([name]) => !this.rows.has(name)).map(([, key]) => key);
  }

  private keyOf(row: ProjectedRow): RowKey {
    const values = row as unknown as Record<string, unknown>;
    return this.table.primaryKey.map((column) => String(values[column]));
  }
}

/** One text for a key of any width; parts cannot run into each other. */
export function keyName(key: RowKey): string {
  return key.length === 1 ? (key[0] ?? '') : JSON.stringify(key);
}
