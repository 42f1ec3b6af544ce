import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedEvent, ProjectedRow, RowKey } from '../../projections/projection.js';
import type { Position } from '../event-store/position.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { emptyBuffer, foldInto, keysTouched } from './batch-fold.js';
import type { ParkedStream, RetryStep } from './parking.js';
import type { RowChange, SetConnection } from './ports.js';
import type { RowBuffer } from './row-buffer.js';
import { RowCache } from './row-cache.js';

/** Another node owns the set: this one must write nothing more. */
export class Fenced extends Error {
  constructor() {
    super('another node owns the projection set');
    this.name = 'Fenced';
  }
}

interface Table {
  readonly projection: AnyProjection;
  readonly cache: RowCache;
}

interface FoldedTable {
  readonly table: Table;
  readonly buffer: RowBuffer;
  readonly keys: readonly RowKey[];
}

/** Folds batches into the rows that they touch and writes these; lives as long as its connection. */
export class SetWriter {
  private readonly tables: readonly Table[];

  constructor(
    private readonly connection: SetConnection,
    projections: readonly AnyProjection[],
    private readonly faults: FaultPoints,
    keptRows: number,
  ) {
    this.tables = projections.map((projection) => ({ projection, cache: new RowCache(keptRows) }));
  }

  checkpoint(): Promise<Position> {
    return this.connection.checkpoint();
  }

  /** Throws `Fenced`, `ProjectorFailure`, or what Postgres says; then nothing was written. */
  async write(
    events: readonly ProjectedEvent[],
    parked: readonly ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    await this.foldAnd(events, (changes) => this.connection.commit(changes, parked, upTo));
    await this.faults.pass('after-commit');
  }

  /** Events of a stream that was parked, and how far its retry has come. Throws like `write`. */
  async writeLate(events: readonly ProjectedEvent[], step: RetryStep): Promise<void> {
    await this.foldAnd(events, (changes) => this.connection.commitLate(changes, step));
  }

  retryRequested(): ReturnType<SetConnection['retryRequested']> {
    return this.connection.retryRequested();
  }

  postponeRetry(stream: string): Promise<void> {
    return this.connection.postponeRetry(stream);
  }

  takeOver(build: string): Promise<number> {
    return this.connection.takeOver(build);
  }

  markFilled(): Promise<void> {
    return this.connection.markFilled();
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async foldAnd(
    events: readonly ProjectedEvent[],
    commit: (changes: RowChange[]) => Promise<void>,
  ): Promise<void> {
    const folded: FoldedTable[] = [];
    for (const table of this.tables) {
      const touched = await this.fold(table, events);
      if (touched) folded.push(touched);
    }
    await commit(folded.flatMap(changeOf));
    for (const { table, buffer, keys } of folded) table.cache.keep(buffer, keys);
  }

  private async fold(table: Table, events: readonly ProjectedEvent[]): Promise<FoldedTable | null> {
    const { projection, cache } = table;
    const keys = keysTouched(projection, events);
    if (keys.length === 0) return null;
    const buffer = emptyBuffer(projection);
    if (projection.table.insertOnly) {
      foldInto(buffer, projection, events);
      return { table, buffer, keys: [] };
    }
    const unknown = cache.fill(buffer, keys);
    if (unknown.length > 0) {
      for (const row of await this.connection.load(projection, unknown)) buffer.load(row);
    }
    foldInto(buffer, projection, events);
    return { table, buffer, keys };
  }
}

function changeOf({ table: { projection }, buffer }: FoldedTable): RowChange[] {
  const rows = buffer.written();
  const removed = buffer.removed();
  if (rows.length + removed.length === 0) return [];
  const whole: ProjectedRow[] = [];
  const touched: ProjectedRow[] = [];
  for (const row of rows) (buffer.isOnlyTouched(row) ? touched : whole).push(row);
  return [{ projection, whole, touched, removed }];
}
