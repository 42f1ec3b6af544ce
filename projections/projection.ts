import type { RollcallEvent } from '../src/event-store/catalogue.js';
import type { RecordedEvent } from '../src/event-store/recorded-event.js';

/** What a row holds in JavaScript: `timestamptz` as epoch milliseconds, `bigint` as BigInt, `json` as it is. */
export type ColumnType = 'text' | 'text[]' | 'integer' | 'bigint' | 'boolean' | 'timestamptz' | 'json';

export interface TableDefinition<Row> {
  readonly name: string;
  readonly columns: Readonly<Record<keyof Row & string, ColumnType>>;
  readonly primaryKey: readonly (keyof Row & string)[];
  /**
   * Columns of positions, one for each stream that the row is made of: `position` alone where that is one stream. An
   * event changes a row only if it is newer than what its own stream has written there, since a stream that was parked
   * comes later than the others. All are `bigint`, null before the first event; those of a table with hot columns are hot.
   */
  readonly guards: readonly (keyof Row & string)[];
  /** `CREATE INDEX` bodies after `ON <table>`, e.g. `(parent_id, created_position DESC)`. */
  readonly indexes: readonly string[];
  /**
   * Columns that events change all the time while the others stay. A row of which nothing else has changed is written
   * by these alone. Holds `position`; empty where rows change as a whole.
   */
  readonly hot: readonly (keyof Row & string)[];
  /** Of a key the row of the first event in the log stands, whenever it comes; rows are never loaded to be folded. */
  readonly insertOnly: boolean;
}

/** Every row says which event last wrote it. */
export interface ProjectedRow {
  readonly position: bigint;
}

/** An event with the aggregate instance that its stream belongs to. */
export interface ProjectedEvent extends RecordedEvent<RollcallEvent> {
  readonly subjectId: string;
}

export type RowKey = readonly string[];

/** The rows that an event named by `keysOf`; a row whose guards are all at or beyond those of the new row ignores it. */
export interface Rows<Row extends ProjectedRow> {
  get(key: RowKey): Row | undefined;
  put(row: Row): void;
  remove(key: RowKey): void;
}

/** Events in, row changes out. Pure: idempotent by natural key, increments nothing, deletes nothing by time. */
export interface Projection<Row extends ProjectedRow> {
  readonly name: string;
  /** Raised whenever the same events would give other rows; the set's version follows. */
  readonly version: number;
  readonly table: TableDefinition<Row>;
  keysOf(event: ProjectedEvent): readonly RowKey[];
  apply(event: ProjectedEvent, rows: Rows<Row>): void;
}
