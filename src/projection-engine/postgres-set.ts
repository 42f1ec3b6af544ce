import { Socket } from 'node:net';
import pg from 'pg';
import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedRow, RowKey } from '../../projections/projection.js';
import { CONNECT_MS, type Database } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import { within } from '../event-store/time-limit.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { batchStatement, type TableChange } from './batch-statement.js';
import { type KnownParked, ParkedTable, parkedStreams } from './parked-table.js';
import type { ParkedStream, RetryStep } from './parking.js';
import type { RowChange, SetConnection, SetStore } from './ports.js';
import { type Columns, fromDatabase, toJsonRow, UnstorableValue } from './row-codec.js';
import { NOTHING_APPLIED } from './set-schema.js';
import { schemaOf } from './set-version.js';
import { Fenced } from './set-writer.js';
import { hotColumns, tableSql, type TableSql } from './table-sql.js';

/** An owner that hangs inside its transaction loses the connection, so that its locks fall. */
const IDLE_IN_TRANSACTION_MS = 2_000;
const STATEMENT_MS = 30_000;
/** Of this side, above Postgres' own: bytes on a connection may be lost without a word. */
const ANSWER_MS = STATEMENT_MS + 1_000;
const CLOSE_MS = 500;

export interface PostgresSetOptions {
  /** Whoever talks to Postgres tells it how that went. */
  readonly database: Database;
  readonly setVersion: string;
  readonly projections: readonly AnyProjection[];
  readonly faults: FaultPoints;
}

/** The set in Postgres. */
export class PostgresSet implements SetStore {
  constructor(private readonly options: PostgresSetOptions) {}

  async connect(epoch: bigint, lost: (error: Error) => void): Promise<SetConnection> {
    const { database } = this.options;
    const socket = new Socket();
    const client = new pg.Client({
      stream: () => socket,
      connectionString: database.url,
      application_name: 'rollcall-engine',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: ANSWER_MS,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 1_000,
    });
    client.on('error', (error) => {
      database.doubt();
      lost(error);
    });
    try {
      await client.connect();
      // The log is what lasts: a commit that Postgres loses in a crash comes again from the checkpoint that it kept.
      await client.query('SET synchronous_commit = off');
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return new PostgresSetConnection(client, socket, epoch, this.options);
  }

  parkedStreams(): Promise<Map<string, KnownParked>> {
    return parkedStreams(this.options.database, this.options.setVersion);
  }
}

interface Table {
  /** Tells the tables apart in the names of prepared statements. */
  readonly index: number;
  readonly sql: TableSql;
}

class PostgresSetConnection implements SetConnection {
  private readonly tables: ReadonlyMap<AnyProjection, Table>;
  private readonly schema: string;
  private readonly parked: ParkedTable;

  constructor(
    private readonly client: pg.Client,
    private readonly socket: Socket,
    private readonly epoch: bigint,
    private readonly options: PostgresSetOptions,
  ) {
    this.schema = schemaOf(options.setVersion);
    this.parked = new ParkedTable(client, options.setVersion);
    this.tables = new Map(
      options.projections.map((projection, index) => [
        projection,
        { index, sql: tableSql(this.schema, projection) },
      ]),
    );
  }

  async checkpoint(): Promise<Position> {
    const found = await this.client.query<{ position: string }>(
      `SELECT position FROM ${this.schema}.checkpoint`,
    );
    return BigInt(found.rows[0]?.position ?? -1);
  }

  async load(projection: AnyProjection, keys: readonly RowKey[]): Promise<ProjectedRow[]> {
    const columns = projection.table.primaryKey.map((_, column) => keys.map((key) => key[column] ?? ''));
    const found = await this.client.query<Record<string, unknown>>({
      name: `load-${projection.name}`,
      text: this.tableOf(projection).sql.load,
      values: columns,
    });
    return found.rows.map((row) => fromDatabase(projection.table.columns, row));
  }

  async commit(
    changes: readonly RowChange[],
    parked: readonly ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    const { database, faults } = this.options;
    const begun = database.now();
    // One statement is a transaction of its own, and saves two round trips for each batch.
    if (parked.length === 0 && !faults.isArmed('before-commit')) await this.writeRows(changes, upTo);
    else await this.inTransaction(() => this.writeRowsAndParked(changes, parked, upTo));
    database.succeeded(begun);
  }

  async commitLate(changes: readonly RowChange[], step: RetryStep): Promise<void> {
    await this.inTransaction(async () => {
      await this.parked.step(step);
      await this.writeRows(changes, NOTHING_APPLIED);
      await this.options.faults.pass('before-retry-commit');
    });
    await this.options.faults.pass('after-retry-commit');
  }

  retryRequested(): Promise<{ stream: string; revision: bigint } | null> {
    return this.parked.requested();
  }

  postponeRetry(stream: string): Promise<void> {
    return this.parked.postpone(stream);
  }

  async takeOver(build: string): Promise<number> {
    const { rowCount } = await this.client.query(
      `WITH taken AS (
         UPDATE rollcall.projection_sets SET build = $3
         WHERE version = $1 AND epoch = $2 AND build IS DISTINCT FROM $3 RETURNING 1)
       UPDATE rollcall.parked_streams SET retry_requested_at = clock_timestamp()
       WHERE set_version = $1 AND retry_requested_at IS NULL AND EXISTS (SELECT FROM taken)`,
      [this.options.setVersion, this.epoch.toString(), build],
    );
    return rowCount ?? 0;
  }

  async markFilled(): Promise<void> {
    await this.client.query(`UPDATE ${this.schema}.checkpoint SET filled = true WHERE NOT filled`);
  }

  async close(): Promise<void> {
    // A peer that does not answer would keep the good-bye waiting.
    await within(CLOSE_MS, this.client.end()).catch(() => undefined);
    this.socket.destroy();
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
    changes: readonly RowChange[],
    parked: readonly ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    for (const stream of parked) await this.parked.park(stream);
    await this.writeRows(changes, upTo);
    await this.options.faults.pass('before-commit');
  }

  private async writeRows(changes: readonly RowChange[], upTo: Position): Promise<void> {
    const owner = { setVersion: this.options.setVersion, epoch: this.epoch };
    const tables = changes.map((change) => this.toTableChange(change));
    const { name, text, values } = batchStatement(this.schema, owner, tables, upTo);
    const result = await this.client.query<{ held: number }>({ name, text, values: [...values] });
    if (result.rows[0]?.held !== 1) throw new Fenced();
  }

  private tableOf(projection: AnyProjection): Table {
    const table = this.tables.get(projection);
    if (!table) throw new Error(`${projection.name} is not of this set`);
    return table;
  }

  private toTableChange({ projection, whole, touched, removed }: RowChange): TableChange {
    const { columns } = projection.table;
    return {
      ...this.tableOf(projection),
      rows: toJsonText(Object.keys(columns), columns, whole),
      touched: toJsonText(hotColumns(projection.table), columns, touched),
      removed,
    };
  }
}

function toJsonText(
  names: readonly string[],
  columns: Columns,
  rows: readonly ProjectedRow[],
): string | null {
  if (rows.length === 0) return null;
  const json = rows.map((row) => toJsonRow(names, columns, row));
  try {
    return JSON.stringify(json);
  } catch (error) {
    // Nested deeper than the stack: of the data, like everything that a row made of JSON cannot be written for.
    throw new UnstorableValue(String(error));
  }
}
