import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent, ProjectedRow, RowKey } from '../../../projections/projection.js';
import { supersedes } from '../../../src/projection-engine/row-buffer.js';
import { emptyBuffer, foldInto, keysTouched } from '../../../src/projection-engine/batch-fold.js';

/** The tables of read models, held in memory and written as the engine writes them: per batch, through row buffers. */
export class MemoryTables {
  private readonly tables: ReadonlyMap<AnyProjection, Map<string, ProjectedRow>>;

  constructor(private readonly projections: readonly AnyProjection[]) {
    this.tables = new Map(projections.map((projection) => [projection, new Map<string, ProjectedRow>()]));
  }

  apply(batch: readonly ProjectedEvent[]): void {
    for (const projection of this.projections) this.applyTo(projection, batch);
  }

  /** In the order of their keys. */
  rowsOf(projection: AnyProjection): ProjectedRow[] {
    const rows = this.tables.get(projection) ?? new Map<string, ProjectedRow>();
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }

  private applyTo(projection: AnyProjection, batch: readonly ProjectedEvent[]): void {
    const table = this.tables.get(projection) ?? new Map<string, ProjectedRow>();
    const buffer = emptyBuffer(projection);
    if (!projection.table.insertOnly) {
      for (const key of keysTouched(projection, batch)) {
        const row = table.get(nameOf(key));
        if (row) buffer.load(row);
      }
    }
    foldInto(buffer, projection, batch);
    for (const key of buffer.removed()) table.delete(nameOf(key));
    for (const row of buffer.written()) this.upsert(projection, table, row);
  }

  /** The `ON CONFLICT` of the real table. */
  private upsert({ table }: AnyProjection, rows: Map<string, ProjectedRow>, row: ProjectedRow): void {
    const values = row as unknown as Readonly<Record<string, unknown>>;
    const name = nameOf(table.primaryKey.map((column) => String(values[column])));
    const standing = rows.get(name);
    if (standing && !supersedes(table, row, standing)) return;
    rows.set(name, row);
  }
}

function nameOf(key: RowKey): string {
  return JSON.stringify(key);
}
