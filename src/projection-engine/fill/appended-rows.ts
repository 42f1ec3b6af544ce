import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedRow, Rows } from '../../../projections/projection.js';
import { copyLine } from './copy-text.js';

/** Rows of an insert-only table on their way to COPY. The first row of a key stands; Postgres tells which are second. */
export class AppendedRows implements Rows<ProjectedRow> {
  private lines: string[] = [];
  private committed = 0;
  private readonly lineOf: (row: ProjectedRow) => string;
  /** In characters. */
  size = 0;

  constructor(readonly projection: AnyProjection) {
    this.lineOf = copyLine(Object.entries(projection.table.columns));
  }

  get(): undefined {
    return undefined;
  }

  put(row: ProjectedRow): void {
    const line = this.lineOf(row);
    this.lines.push(line);
    this.size += line.length;
  }

  remove(): never {
    throw new Error(`${this.projection.name} is insert-only`);
  }

  commitEvent(): void {
    this.committed = this.lines.length;
  }

  undoEvent(): void {
    for (const line of this.lines.splice(this.committed)) this.size -= line.length;
  }

  take(): string[] {
    const { lines } = this;
    this.lines = [];
    this.committed = 0;
    this.size = 0;
    return lines;
  }
}
