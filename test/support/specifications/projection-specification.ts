import { expect } from '@jest/globals';
import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent, ProjectedRow, Projection } from '../../../projections/projection.js';
import { MemoryTables } from './memory-tables.js';
import { recorded, type Happening } from './recorded-events.js';

/**
 * Read models as sentences: `given(what the log holds).then(rows)`. Events lie on positions 10, 20, 30, …, recorded a
 * second apart from epoch 1 s on. Every history is also folded event by event, with each event delivered twice, and
 * with any one of them delivered again at the end, and with the rest of its stream after all others: all ways must give
 * the same rows.
 */
export class ProjectionSpecification<Row extends ProjectedRow> {
  private readonly projection: AnyProjection;

  private constructor(projection: Projection<Row>) {
    // The tables hand back the projection's own rows alone.
    this.projection = projection as unknown as AnyProjection;
  }

  static for<Row extends ProjectedRow>(projection: Projection<Row>): ProjectionSpecification<Row> {
    return new ProjectionSpecification(projection);
  }

  given(happenings: readonly Happening[]): Folded<Row> {
    const events = recorded(happenings);
    const ways = [
      [events],
      events.map((event) => [event]),
      [...events.map((event) => [event, event])],
      // Any one event may come again, long after it was applied.
      ...events.map((event) => [events, [event]]),
      // Any stream may have been parked at any of its events, and come later than the others.
      ...events.map((event) => lateFrom(event, events)),
    ];
    const [rows, ...others] = ways.map((batches) => this.fold(batches));
    for (const other of others) expect(other).toEqual(rows);
    return new Folded((rows ?? []) as Row[]);
  }

  /** A log with positions and ids of one's own, folded once. */
  givenLog(events: readonly ProjectedEvent[]): Folded<Row> {
    return new Folded(this.fold([events]) as Row[]);
  }

  private fold(batches: readonly (readonly ProjectedEvent[])[]): ProjectedRow[] {
    const tables = new MemoryTables([this.projection]);
    for (const batch of batches) tables.apply(batch);
    return tables.rowsOf(this.projection);
  }
}

function lateFrom(
  { stream, position }: ProjectedEvent,
  events: readonly ProjectedEvent[],
): ProjectedEvent[][] {
  const isLate = (event: ProjectedEvent): boolean => event.stream === stream && event.position >= position;
  return [events.filter((event) => !isLate(event)), events.filter(isLate)];
}

class Folded<Row extends ProjectedRow> {
  constructor(readonly rows: readonly Row[]) {}

  /** These rows and no others, in the order of their keys; of each row at least these columns. */
  then(rows: readonly Partial<Row>[]): void {
    expect(this.rows).toMatchObject(rows);
    expect(this.rows).toHaveLength(rows.length);
  }

  /** The one row, in every column. */
  thenOnly(row: Row): void {
    expect(this.rows).toEqual([row]);
  }

  thenNothing(): void {
    expect(this.rows).toEqual([]);
  }
}
