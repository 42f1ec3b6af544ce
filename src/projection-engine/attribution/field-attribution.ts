import { isDeepStrictEqual } from 'node:util';
import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent, ProjectedRow, RowKey } from '../../../projections/projection.js';
import type { Position } from '../../event-store/position.js';
import { keyName, RowBuffer } from '../row-buffer.js';

/** A row whose past is asked for. */
export interface WantedRow {
  readonly projection: string;
  readonly key: RowKey;
  /** Asks besides for the event at this very position, should it touch the row's key. */
  readonly at?: Position;
}

export interface RowPast {
  /** For each column of the row as it stands now the last event that changed it; empty while there is no row. */
  readonly fields: ReadonlyMap<string, ProjectedEvent>;
  /** The last event that made or changed the row, whether or not it stands now. */
  readonly writtenBy: ProjectedEvent | null;
  /** The event that took the row away, unless a later one made it again. */
  readonly removedBy: ProjectedEvent | null;
  readonly at: ProjectedEvent | null;
}

interface Track {
  readonly key: RowKey;
  readonly wantedAt: Position | null;
  fields: Map<string, ProjectedEvent>;
  writtenBy: ProjectedEvent | null;
  removedBy: ProjectedEvent | null;
  at: ProjectedEvent | null;
}

interface Table {
  readonly projection: AnyProjection;
  readonly buffer: RowBuffer;
  readonly tracks: Map<string, Track>;
}

/**
 * Folds some rows alone and remembers which event last changed each of their fields. A projector may look at other rows
 * that the same event touches; those are taken in when they are first met, and `grew` then says that the log must be
 * gone through once more with all of `wanted`, since events before may have touched them.
 */
export class FieldAttribution {
  private readonly tables: readonly Table[];
  private hasGrown = false;

  constructor(projections: readonly AnyProjection[], wanted: readonly WantedRow[]) {
    this.tables = projections
      .map((projection) => tableOf(projection, wanted))
      .filter(({ tracks }) => tracks.size > 0);
  }

  get grew(): boolean {
    return this.hasGrown;
  }

  get wanted(): WantedRow[] {
    return this.tables.flatMap(({ projection: { name }, tracks }) =>
      [...tracks.values()].map(({ key, wantedAt }) => ({
        projection: name,
        key,
        ...(wantedAt === null ? {} : { at: wantedAt }),
      })),
    );
  }

  /** Events come in the order of the log, each once. Throws what a projector throws. */
  apply(event: ProjectedEvent): void {
    for (const table of this.tables) this.applyTo(table, event);
  }

  /** Null when the row was not asked for. */
  pastOf(projection: string, key: RowKey): RowPast | null {
    const table = this.tables.find((candidate) => candidate.projection.name === projection);
    return table?.tracks.get(keyName(key)) ?? null;
  }

  private applyTo(table: Table, event: ProjectedEvent): void {
    const { projection, buffer, tracks } = table;
    const keys = projection.keysOf(event);
    if (!keys.some((key) => tracks.has(keyName(key)))) return;
    const touched = keys.map((key) => this.trackOf(table, key));
    const before = touched.map(({ key }) => buffer.get(key));
    projection.apply(event, buffer);
    touched.forEach((track, index) => {
      if (track.wantedAt === event.position) track.at = event;
      remember(track, projection, event, before[index], buffer.get(track.key));
    });
  }

  private trackOf({ tracks }: Table, key: RowKey): Track {
    const standing = tracks.get(keyName(key));
    if (standing) return standing;
    this.hasGrown = true;
    const track = newTrack(key, null);
    tracks.set(keyName(key), track);
    return track;
  }
}

function tableOf(projection: AnyProjection, wanted: readonly WantedRow[]): Table {
  const own = wanted.filter((row) => row.projection === projection.name);
  const tracks = new Map(own.map(({ key, at }) => [keyName(key), newTrack(key, at ?? null)]));
  return { projection, buffer: new RowBuffer(projection.table), tracks };
}

function newTrack(key: RowKey, wantedAt: Position | null): Track {
  return { key, wantedAt, fields: new Map(), writtenBy: null, removedBy: null, at: null };
}

function remember(
  track: Track,
  { table }: AnyProjection,
  event: ProjectedEvent,
  before: ProjectedRow | undefined,
  after: ProjectedRow | undefined,
): void {
  if (after === before) return;
  if (!after) {
    track.fields = new Map();
    track.removedBy = event;
    return;
  }
  track.writtenBy = event;
  track.removedBy = null;
  for (const column of Object.keys(table.columns)) {
    if (!before || !isDeepStrictEqual(valueOf(before, column), valueOf(after, column)))
      track.fields.set(column, event);
  }
}

function valueOf(row: ProjectedRow, column: string): unknown {
  return (row as unknown as Readonly<Record<string, unknown>>)[column] ?? null;
}
