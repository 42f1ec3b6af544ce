import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedRow, RowKey, Rows } from '../../../projections/projection.js';
import { keyName, supersedes } from '../row-buffer.js';
import { weightOfRow } from '../row-cache.js';

interface Held {
  /** Null: the table has no row of this key. */
  row: ProjectedRow | null;
  readonly key: RowKey;
  weight: number;
  /** Changed since it was last written. */
  dirty: boolean;
  /** Touched since the last `settle`; what is not may be let go of first. */
  fresh: boolean;
}

/**
 * The rows of one table while a log is folded into it: held in memory, written now and then. As long as nothing was let
 * go of, what is not held is not in the table either.
 */
export class TableFold implements Rows<ProjectedRow> {
  private readonly held = new Map<string, Held>();
  private readonly dirty = new Set<Held>();
  private readonly undone: (() => void)[] = [];
  private weight = 0;
  private readonly primaryKey: readonly string[];

  constructor(
    readonly projection: AnyProjection,
    /** Whether the table holds nothing that is not held here. */
    private complete: boolean,
  ) {
    this.primaryKey = projection.table.primaryKey;
  }

  /** Whether what is not held is not in the table either. */
  get holdsAll(): boolean {
    return this.complete;
  }

  get(key: RowKey): ProjectedRow | undefined {
    return this.held.get(keyName(key))?.row ?? undefined;
  }

  put(row: ProjectedRow): void {
    const key = this.keyOf(row);
    const name = keyName(key);
    const standing = this.held.get(name);
    if (standing?.row && !supersedes(this.projection.table, row, standing.row)) return;
    this.change(name, standing, key, row);
  }

  remove(key: RowKey): void {
    const name = keyName(key);
    const standing = this.held.get(name);
    if (standing ? standing.row !== null : !this.complete) this.change(name, standing, key, null);
  }

  /** What was put and removed since is final. */
  commitEvent(): void {
    this.undone.length = 0;
  }

  /** As if the event had not been applied. */
  undoEvent(): void {
    for (const undo of this.undone.splice(0).toReversed()) undo();
  }

  /** Of these keys those that the table may hold and this does not know. */
  missing(keys: readonly RowKey[]): RowKey[] {
    return this.complete ? [] : keys.filter((key) => !this.held.has(keyName(key)));
  }

  /** What the table holds of these keys; those without a row are known to have none. */
  load(keys: readonly RowKey[], rows: readonly ProjectedRow[]): void {
    for (const row of rows) {
      const key = this.keyOf(row);
      this.hold(keyName(key), { row, key, weight: weightOfRow(row), dirty: false, fresh: true });
    }
    for (const key of keys) {
      const name = keyName(key);
      if (!this.held.has(name)) this.hold(name, { row: null, key, weight: 1, dirty: false, fresh: true });
    }
  }

  changes(): { rows: ProjectedRow[]; removed: RowKey[] } {
    const rows: ProjectedRow[] = [];
    const removed: RowKey[] = [];
    for (const { row, key } of this.dirty) {
      if (row) rows.push(row);
      else removed.push(key);
    }
    return { rows, removed };
  }

  /** The changes are written. Lets go of rows above the weight, those that were not touched lately first. */
  settle(keptWeight: number): void {
    for (const held of this.dirty) this.weigh(held);
    for (const held of this.dirty) held.dirty = false;
    this.dirty.clear();
    if (this.weight > keptWeight) this.letGo((held) => !held.fresh);
    if (this.weight > keptWeight) this.letGo(() => true);
    for (const held of this.held.values()) held.fresh = false;
  }

  private letGo(which: (held: Held) => boolean): void {
    for (const [name, held] of this.held) {
      if (!which(held)) continue;
      this.held.delete(name);
      this.weight -= held.weight;
      this.complete = false;
    }
  }

  private change(name: string, standing: Held | undefined, key: RowKey, row: ProjectedRow | null): void {
    if (standing) {
      const { row: before, dirty } = standing;
      this.undone.push(() => {
        standing.row = before;
        if (!dirty) this.clean(standing);
      });
      standing.row = row;
      standing.fresh = true;
      this.mark(standing);
      return;
    }
    const held = { row, key, weight: row ? weightOfRow(row) : 1, dirty: false, fresh: true };
    this.hold(name, held);
    this.mark(held);
    this.undone.push(() => {
      this.clean(held);
      this.held.delete(name);
      this.weight -= held.weight;
    });
  }

  /** Rows grow as they change. */
  private weigh(held: Held): void {
    const weight = held.row ? weightOfRow(held.row) : 1;
    this.weight += weight - held.weight;
    held.weight = weight;
  }

  private mark(held: Held): void {
    if (held.dirty) return;
    held.dirty = true;
    this.dirty.add(held);
  }

  private clean(held: Held): void {
    held.dirty = false;
    this.dirty.delete(held);
  }

  private hold(name: string, held: Held): void {
    this.held.set(name, held);
    this.weight += held.weight;
  }

  private keyOf(row: ProjectedRow): RowKey {
    const values = row as unknown as Record<string, unknown>;
    return this.primaryKey.map((column) => String(values[column]));
  }
}
