import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedRow, Rows } from '../../../projections/projection.js';
import { CopyBlocks, type CopyPlace } from './copy-blocks.js';
import { copyLine } from './copy-text.js';

/** Rows of an insert-only table on their way to COPY. The first row of a key stands; Postgres tells which are second. */
export class AppendedRows implements Rows<ProjectedRow> {
  private readonly blocks = new CopyBlocks();
  private committed: CopyPlace = this.blocks.place;
  private readonly lineOf: (row: ProjectedRow) => string;

  constructor(readonly projection: AnyProjection) {
    this.lineOf = copyLine(Object.entries(projection.table.columns));
  }

  get bytes(): number {
    return this.blocks.bytes;
  }

  get(): undefined {
    return undefined;
  }

  put(row: ProjectedRow): void {
    this.blocks.add(this.lineOf(row));
  }

  remove(): never {
    throw new Error(`${this.projection.name} is insert-only`);
  }

  commitEvent(): void {
    this.committed = this.blocks.place;
  }

  undoEvent(): void {
    this.blocks.backTo(this.committed);
  }

  reuse(taken: readonly Buffer[]): void {
    this.blocks.reuse(taken);
  }

  take(): Buffer[] {
    const blocks = this.blocks.take();
    this.commitEvent();
    return blocks;
  }
}
