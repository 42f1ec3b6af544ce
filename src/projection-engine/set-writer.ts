import pg from 'pg';
import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedEvent, ProjectedRow, RowKey } from '../../projections/projection.js';
import { CONNECT_MS } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { emptyBuffer, foldInto, keysTouched } from './batch-fold.js';
import { batchStatement, type TableChange } from './batch-statement.js';
import { parkStream, type ParkedStream } from './parking.js';
import type { RowBuffer } from './row-buffer.js';
import { RowCache } from './row-cache.js';
import { type Columns, fromDatabase, toJsonRow } from './row-codec.js';
import { schemaOf } from './set-version.js';
import { hotColumns, tableSql, type TableSql } from './table-sql.js';

/** An owner that hangs inside its transaction loses the connection, so that its locks fall. */
const IDLE_IN_TRANSACTION_MS = 2_000;
const STATEMENT_MS = 60_000;

/** Another node owns the set: this one must write nothing more. */
export class Fenced extends Error {
  constructor() {
    super('another node owns the projection set');
    this.name = 'Fenced';
  }
}

interface Table {
  readonly index: number;
  readonly projection: AnyProjection;
  readonly sql: TableSql;
  readonly cache: RowCache;
}

interface FoldedTable {
  readonly table: Table;
  readonly buffer: RowBuffer;
  readonly keys: readonly RowKey[];
}

export interface SetWriterOptions {
  readonly url: string;
  readonly setVersion: string;
  readonly epoch: bigint;
  readonly projections: readonly AnyProjection[];
  readonly faults: FaultPoints;
  readonly lost: (error: Error) => void;
}

/** Writes batches: rows, parked streams and checkpoint in one transaction, refused when the epoch is not the owner's. */
export class SetWriter {
  private readonly tables: readonly Table[];
  private readonly schema: string;

  private constructor(
    private readonly client: pg.Client,
    private readonly options: SetWriterOptions,
  ) {
    this.schema = schemaOf(options.setVersion);
    this.tables = options.projections.map((projection, index) => ({
      index,
      projection,
      sql: tableSql(this.schema, projection),
      cache: new RowCache(),
    }));
  }

  static async connect(options: SetWriterOptions): Promise<SetWriter> {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: 'rollcall-engine',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      statement_timeout: STATEMENT_MS,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 1_000,
    });
    client.on('error', options.lost);
    await client.connect();
    // The log is what lasts: a commit that Postgres loses in a crash comes again from the checkpoint that it kept.
    await client.query('SET synchronous_commit = off');
    return new SetWriter(client, options);
  }

  async checkpoint(): Promise<Position> {
    const found = await this.client.query<{ position: string }>(
      `SELECT position FROM ${this.schema}.checkpoint`,
    );
    return BigInt(found.rows[0]?.position ?? -1);
  }

  /** Throws `Fenced`, `ProjectorFailure`, or what Postgres says; then nothing was written. */
  async write(
    events: readonly ProjectedEvent[],
    parked: readonly ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    const folded: FoldedTable[] = [];
    for (const table of this.tables) {
      const touched = await this.fold(table, events);
      if (touched) folded.push(touched);
    }
    // One statement is a transaction of its own, and saves two round trips for each batch.
    if (parked.length === 0 && !this.options.faults.isArmed('before-commit'))
      await this.writeRows(folded, upTo);
    else await this.inTransaction(() => this.writeRowsAndParked(folded, parked, upTo));
    for (const { table, buffer, keys } of folded) table.cache.keep(buffer, keys);
    await this.options.faults.pass('after-commit');
  }

  /** The set holds all that the log held: from now on it can be read, however far it lags at times. */
  async markFilled(): Promise<void> {
    await this.client.query(`UPDATE ${this.schema}.checkpoint SET filled = true WHERE NOT filled`);
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
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
    if (unknown.length > 0) await this.load(table, unknown, buffer);
    foldInto(buffer, projection, events);
    return { table, buffer, keys };
  }

  private async load({ projection, sql }: Table, keys: readonly RowKey[], buffer: RowBuffer): Promise<void> {
    const columns = projection.table.primaryKey.map((_, column) => keys.map((key) => key[column] ?? ''));
    const found = await this.client.query<Record<string, unknown>>({
      name: `load-${projection.name}`,
      text: sql.load,
      values: columns,
    });
    for (const row of found.rows) buffer.load(fromDatabase(projection.table.columns, row));
  }

  private async inTransaction(work: () => Promise<void>): Promise<void> {
    await this.client.query('BEGIN');
    try {
      await work();
      await this.client.query('COMMIT');
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  private async writeRowsAndParked(
    folded: readonly FoldedTable[],
    parked: readonly ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    for (const stream of parked) await parkStream(this.client, this.options.setVersion, stream);
    await this.writeRows(folded, upTo);
    await this.options.faults.pass('before-commit');
  }

  private async writeRows(folded: readonly FoldedTable[], upTo: Position): Promise<void> {
    const { name, text, values } = batchStatement(this.schema, this.options, folded.flatMap(changeOf), upTo);
    const result = await this.client.query<{ held: number }>({ name, text, values: [...values] });
    if (result.rows[0]?.held !== 1) throw new Fenced();
  }
}

function changeOf({ table, buffer }: FoldedTable): TableChange[] {
  const definition = table.projection.table;
  const rows = buffer.written();
  const removed = buffer.removed();
  if (rows.length + removed.length === 0) return [];
  const whole: ProjectedRow[] = [];
  const touched: ProjectedRow[] = [];
  for (const row of rows) (buffer.isOnlyTouched(row) ? touched : whole).push(row);
  return [
    {
      index: table.index,
      sql: table.sql,
      rows: toJsonText(Object.keys(definition.columns), definition.columns, whole),
      touched: toJsonText(hotColumns(definition), definition.columns, touched),
      removed,
    },
  ];
}

function toJsonText(
  names: readonly string[],
  columns: Columns,
  rows: readonly ProjectedRow[],
): string | null {
  return rows.length === 0 ? null : JSON.stringify(rows.map((row) => toJsonRow(names, columns, row)));
}
