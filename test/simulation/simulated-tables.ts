import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedRow, RowKey } from '../../projections/projection.js';
import type { RowChange } from '../../src/projection-engine/ports.js';
import { supersedes } from '../../src/projection-engine/row-buffer.js';
import { hotColumns } from '../../src/projection-engine/table-sql.js';

type Fields = Readonly<Record<string, unknown>>;
type Undo = () => void;

export const keyNameOf = (key: RowKey): string => JSON.stringify(key);

export function keyOf({ table }: AnyProjection, row: ProjectedRow): RowKey {
  return table.primaryKey.map((column) => String((row as unknown as Fields)[column]));
}

/** The tables of a set, with the conflict clauses of the real ones. */
export class SimulatedTables {
  private readonly tables: ReadonlyMap<AnyProjection, Map<string, ProjectedRow>>;

  constructor(projections: readonly AnyProjection[]) {
    this.tables = new Map(projections.map((projection) => [projection, new Map<string, ProjectedRow>()]));
  }

  rows(projection: AnyProjection): Map<string, ProjectedRow> {
    const rows = this.tables.get(projection);
    if (!rows) throw new Error(`${projection.name} is not of this set`);
    return rows;
  }

  load(projection: AnyProjection, keys: readonly RowKey[]): ProjectedRow[] {
    return keys.flatMap((key) => this.rows(projection).get(keyNameOf(key)) ?? []);
  }

  /** Gives back what undoes it, in the order in which that must be run. */
  apply(changes: readonly RowChange[]): Undo[] {
    const undo: Undo[] = [];
    for (const { projection, whole, touched, removed } of changes) {
      const rows = this.rows(projection);
      const set = (name: string, row: ProjectedRow | undefined): void => {
        const before = rows.get(name);
        undo.unshift(() => (before ? rows.set(name, before) : rows.delete(name)));
        if (row) rows.set(name, row);
        else rows.delete(name);
      };
      for (const row of whole) {
        const name = keyNameOf(keyOf(projection, row));
        const standing = rows.get(name);
        if (!standing || supersedes(projection.table, row, standing)) set(name, row);
      }
      for (const row of touched) {
        const name = keyNameOf(keyOf(projection, row));
        const standing = rows.get(name);
        if (standing && supersedes(projection.table, row, standing))
          set(name, withHot(projection, standing, row));
      }
      for (const key of removed) set(keyNameOf(key), undefined);
    }
    return undo;
  }
}

function withHot({ table }: AnyProjection, standing: ProjectedRow, row: ProjectedRow): ProjectedRow {
  const hot = hotColumns(table).map((column) => [column, (row as unknown as Fields)[column]] as const);
  return { ...standing, ...Object.fromEntries(hot) };
}
