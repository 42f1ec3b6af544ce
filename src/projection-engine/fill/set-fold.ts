import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent, ProjectedRow, RowKey } from '../../../projections/projection.js';
import { keysTouched } from '../batch-fold.js';
import type { BulkWriter, CopyChunk, TableChanges } from './bulk-writer.js';
import { CopyBlocks } from './copy-blocks.js';
import { copyLine } from './copy-text.js';
import { AppendedRows } from './appended-rows.js';
import { TableFold } from './table-fold.js';

/** A projector threw: the event left no trace in any table. */
export class EventNotFolded extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** All tables of a set while a log is folded into them. */
export class SetFold {
  private readonly tables: readonly TableFold[];
  private readonly appended: readonly AppendedRows[];

  /** `isEmpty`: nothing was ever written, so what is not in memory is nowhere. */
  constructor(projections: readonly AnyProjection[], isEmpty: boolean) {
    this.tables = projections
      .filter(({ table }) => !table.insertOnly)
      .map((projection) => new TableFold(projection, isEmpty));
    this.appended = projections
      .filter(({ table }) => table.insertOnly)
      .map((projection) => new AppendedRows(projection));
  }

  /** Reads from the tables what the events touch and memory has let go of. */
  async prepare(events: readonly ProjectedEvent[], writer: BulkWriter): Promise<void> {
    for (const table of this.tables) {
      if (table.holdsAll) continue;
      const keys = table.missing(touched(table.projection, events));
      if (keys.length > 0) table.load(keys, await writer.load(table.projection, keys));
    }
  }

  /** Throws `EventNotFolded`. */
  apply(event: ProjectedEvent): void {
    try {
      for (const table of this.tables) table.projection.apply(event, table);
      for (const table of this.appended) table.projection.apply(event, table);
    } catch (error) {
      for (const table of this.tables) table.undoEvent();
      for (const table of this.appended) table.undoEvent();
      throw new EventNotFolded(error);
    }
    for (const table of this.tables) table.commitEvent();
    for (const table of this.appended) table.commitEvent();
  }

  /** Of appended rows that wait to be written. */
  get appendedBytes(): number {
    return this.appended.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  takeAppended(): CopyChunk[] {
    return this.appended
      .map((table) => ({ projection: table.projection, blocks: table.take() }))
      .filter(({ blocks }) => blocks.length > 0);
  }

  /** What was taken is written. */
  reuse(taken: readonly CopyChunk[]): void {
    for (const { projection, blocks } of taken)
      this.appended.find((table) => table.projection === projection)?.reuse(blocks);
  }

  /** Throws `UnstorableValue`. */
  changes(): TableChanges[] {
    return this.tables
      .map((table) => {
        const { rows, removed } = table.changes();
        return { projection: table.projection, blocks: blocksOf(table.projection, rows), removed };
      })
      .filter(({ blocks, removed }) => blocks.length + removed.length > 0);
  }

  /** The changes are written; each table keeps rows of at most `keptWeight` in memory. */
  settle(keptWeight: number): void {
    for (const table of this.tables) table.settle(keptWeight);
  }
}

function blocksOf(projection: AnyProjection, rows: readonly ProjectedRow[]): Buffer[] {
  const lineOf = copyLine(Object.entries(projection.table.columns));
  const blocks = new CopyBlocks();
  for (const row of rows) blocks.add(lineOf(row));
  return blocks.take();
}

/** A projector that throws here throws again when the event is applied, and is dealt with there. */
function touched(projection: AnyProjection, events: readonly ProjectedEvent[]): RowKey[] {
  return events.flatMap((event) => {
    try {
      return keysTouched(projection, [event]);
    } catch {
      return [];
    }
  });
}
