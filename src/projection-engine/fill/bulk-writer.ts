import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedRow, RowKey } from '../../../projections/projection.js';
import { CONNECT_MS } from '../../database/database.js';
import type { Position } from '../../event-store/position.js';
import { TimedOut, within } from '../../event-store/time-limit.js';
import { parkStream } from '../parked-table.js';
import type { ParkedStream } from '../parking.js';
import { fromDatabase } from '../row-codec.js';
import { Fenced } from '../set-writer.js';
import { NOTHING_APPLIED } from '../set-schema.js';
import { schemaOf } from '../set-version.js';
import { tableSql } from '../table-sql.js';
import { fillerName } from './former-fillers.js';

export interface BulkWriterOptions {
  readonly url: string;
  readonly setVersion: string;
  readonly epoch: bigint;
  readonly lost: (error: Error) => void;
}

/** Lines of COPY for one table, as bytes. */
export interface CopyChunk {
  readonly projection: AnyProjection;
  readonly blocks: readonly Buffer[];
}

export interface TableChanges {
  readonly projection: AnyProjection;
  readonly blocks: readonly Buffer[];
  readonly removed: readonly RowKey[];
}

/** One whose process stands still, or cannot be reached, must not hold its rows and its owner's row against the next one. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const STATEMENT_MS = 10_000;
/** Of many rows at once; nobody waits for them but who would write them again. */
const LONG_STATEMENT_MS = 120_000;
const LONG_STATEMENTS = `SET LOCAL statement_timeout = ${LONG_STATEMENT_MS}`;
/** Of this side, above Postgres' own: bytes on a connection may be lost without a word. */
const GRACE_MS = 1_000;
const CLOSE_MS = 500;
const UNIQUE_VIOLATION = '23505';
const STAGE = 'rollcall_stage';

/** Writes many rows at a time into the tables of a set that nobody reads yet. Every transaction checks the owner's epoch. */
export class BulkWriter {
  private readonly schema: string;
  /** A query of its own must not land inside a transaction that appends beside it: it would share its failure. */
  private readonly turns = pLimit(1);

  private constructor(
    private readonly client: pg.Client,
    private readonly socket: Socket,
    private readonly options: BulkWriterOptions,
  ) {
    this.schema = schemaOf(options.setVersion);
  }

  static async connect(options: BulkWriterOptions): Promise<BulkWriter> {
    const socket = new Socket();
    const client = new pg.Client({
      stream: () => socket,
      connectionString: options.url,
      application_name: fillerName(options.setVersion),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      statement_timeout: STATEMENT_MS,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 1_000,
    });
    client.on('error', options.lost);
    try {
      await client.connect();
      // What a crash of Postgres takes back is folded again from the checkpoint that it kept.
      await client.query('SET synchronous_commit = off');
      return new BulkWriter(client, socket, options);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /**
   * Where the fold goes on from. Rows that were appended after it are removed, since they come again. Throws `Fenced`: they
   * may be another owner's.
   */
  resume(projections: readonly AnyProjection[]): Promise<Position> {
    const checkpoint = `SELECT position FROM ${this.schema}.checkpoint`;
    return this.inTransaction(LONG_STATEMENT_MS, async () => {
      await this.client.query(LONG_STATEMENTS);
      for (const { table } of projections) {
        if (table.insertOnly)
          await this.client.query(
            `DELETE FROM ${this.schema}.${table.name} WHERE position > (${checkpoint})`,
          );
      }
      const found = await this.client.query<{ position: string }>(checkpoint);
      return BigInt(found.rows[0]?.position ?? NOTHING_APPLIED);
    });
  }

  async load(projection: AnyProjection, keys: readonly RowKey[]): Promise<ProjectedRow[]> {
    const columns = projection.table.primaryKey.map((_, column) => keys.map((key) => key[column] ?? ''));
    const query = {
      name: `load-${projection.name}`,
      text: tableSql(this.schema, projection).load,
      values: columns,
    };
    const found = await this.inTurn(STATEMENT_MS, () => this.client.query<Record<string, unknown>>(query));
    return found.rows.map((row) => fromDatabase(projection.table.columns, row));
  }

  /** Appends rows of insert-only tables. Throws `Fenced` or what Postgres says; then nothing was written. */
  async append(chunks: readonly CopyChunk[]): Promise<void> {
    try {
      await this.inTransaction(STATEMENT_MS, () => this.copyAll(chunks, false));
    } catch (error) {
      // The log may hold an event twice; the first row of a key stands.
      if (!isDuplicate(error)) throw error;
      await this.inTransaction(STATEMENT_MS, () => this.copyAll(chunks, true));
    }
  }

  /** Rows, parked streams and the checkpoint together. Throws `Fenced` or what Postgres says; then nothing was written. */
  async write(
    changes: readonly TableChanges[],
    parked: readonly ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    await this.inTransaction(LONG_STATEMENT_MS, async () => {
      await this.client.query(LONG_STATEMENTS);
      for (const { projection, blocks, removed } of changes) {
        if (removed.length > 0) await this.remove(projection, removed);
        if (blocks.length > 0) await this.upsert(projection, blocks);
      }
      for (const stream of parked) await parkStream(this.client, this.options.setVersion, stream);
      await this.client.query(
        `UPDATE ${this.schema}.checkpoint SET position = $1, committed_at = clock_timestamp() WHERE position < $1`,
        [upTo.toString()],
      );
    });
  }

  /** For plans of queries that are as good at once as they will be. */
  async analyze(projections: readonly AnyProjection[]): Promise<void> {
    await this.inTransaction(LONG_STATEMENT_MS, async () => {
      await this.client.query(LONG_STATEMENTS);
      for (const { table } of projections) await this.client.query(`ANALYZE ${this.schema}.${table.name}`);
    });
  }

  async close(): Promise<void> {
    // A peer that does not answer would keep the good-bye waiting.
    await within(CLOSE_MS, this.client.end()).catch(() => undefined);
    this.socket.destroy();
  }

  private inTurn<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
    return this.turns(async () => {
      try {
        return await within(milliseconds + GRACE_MS, work());
      } catch (error) {
        if (error instanceof TimedOut) this.socket.destroy(error);
        throw error;
      }
    });
  }

  private async copyAll(chunks: readonly CopyChunk[], staged: boolean): Promise<void> {
    for (const { projection, blocks } of chunks) {
      if (staged) await this.throughStage(projection, blocks, 'DO NOTHING');
      else await this.copy(`${this.schema}.${projection.table.name}`, columnNames(projection), blocks);
    }
  }

  private async upsert(projection: AnyProjection, blocks: readonly Buffer[]): Promise<void> {
    const { primaryKey, columns } = projection.table;
    const set = Object.keys(columns)
      .filter((column) => !(primaryKey as readonly string[]).includes(column))
      .map((column) => `${column} = excluded.${column}`);
    await this.throughStage(projection, blocks, `(${primaryKey.join(', ')}) DO UPDATE SET ${set.join(', ')}`);
  }

  private async throughStage(
    projection: AnyProjection,
    blocks: readonly Buffer[],
    onConflict: string,
  ): Promise<void> {
    const table = `${this.schema}.${projection.table.name}`;
    const names = columnNames(projection);
    await this.client.query(`CREATE TEMP TABLE ${STAGE} (LIKE ${table})`);
    await this.copy(STAGE, names, blocks);
    await this.client.query(
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${STAGE} ON CONFLICT ${onConflict}`,
    );
    await this.client.query(`DROP TABLE ${STAGE}`);
  }

  private async copy(table: string, names: string, blocks: readonly Buffer[]): Promise<void> {
    const target = this.client.query(copyFrom(`COPY ${table} (${names}) FROM STDIN`));
    await pipeline(Readable.from(blocks), target);
  }

  private async remove(projection: AnyProjection, keys: readonly RowKey[]): Promise<void> {
    const { primaryKey, name } = projection.table;
    const match = primaryKey.map((column) => `t.${column} = k.${column}`).join(' AND ');
    const arrays = primaryKey.map((_, index) => `$${index + 1}::text[]`).join(', ');
    await this.client.query(
      `DELETE FROM ${this.schema}.${name} t USING unnest(${arrays}) AS k(${primaryKey.join(', ')}) WHERE ${match}`,
      primaryKey.map((_, column) => keys.map((key) => key[column] ?? '')),
    );
  }

  /** The epoch is checked last: the lock that keeps others from taking the set over is held for a moment only. */
  private inTransaction<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
    return this.inTurn(milliseconds, () => this.transaction(work));
  }

  private async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.client.query('BEGIN');
    try {
      const result = await work();
      const held = await this.client.query(
        'SELECT 1 FROM rollcall.projection_sets WHERE version = $1 AND epoch = $2 FOR SHARE',
        [this.options.setVersion, this.options.epoch.toString()],
      );
      if (held.rowCount !== 1) throw new Fenced();
      await this.client.query('COMMIT');
      return result;
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}

function columnNames({ table }: AnyProjection): string {
  return Object.keys(table.columns).join(', ');
}

function isDuplicate(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === UNIQUE_VIOLATION;
}
