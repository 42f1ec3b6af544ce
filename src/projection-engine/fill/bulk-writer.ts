import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedRow, RowKey } from '../../../projections/projection.js';
import { CONNECT_MS } from '../../database/database.js';
import type { Position } from '../../event-store/position.js';
import { parkStream } from '../parked-table.js';
import type { ParkedStream } from '../parking.js';
import { fromDatabase } from '../row-codec.js';
import { Fenced } from '../set-writer.js';
import { schemaOf } from '../set-version.js';
import { tableSql } from '../table-sql.js';
import { fillerName } from './former-fillers.js';

export interface BulkWriterOptions {
  readonly url: string;
  readonly setVersion: string;
  readonly epoch: bigint;
  readonly lost: (error: Error) => void;
}

/** Lines of COPY for one table. */
export interface CopyChunk {
  readonly projection: AnyProjection;
  readonly lines: readonly string[];
}

export interface TableChanges {
  readonly projection: AnyProjection;
  readonly lines: readonly string[];
  readonly removed: readonly RowKey[];
}

const UNIQUE_VIOLATION = '23505';
const STAGE = 'rollcall_stage';

/** Writes many rows at a time into the tables of a set that nobody reads yet. Every transaction checks the owner's epoch. */
export class BulkWriter {
  private readonly schema: string;
  /** A query of its own must not land inside a transaction that appends beside it: it would share its failure. */
  private readonly inTurn = pLimit(1);

  private constructor(
    private readonly client: pg.Client,
    private readonly options: BulkWriterOptions,
  ) {
    this.schema = schemaOf(options.setVersion);
  }

  static async connect(options: BulkWriterOptions): Promise<BulkWriter> {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: fillerName(options.setVersion),
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 1_000,
    });
    client.on('error', options.lost);
    await client.connect();
    // What a crash of Postgres takes back is folded again from the checkpoint that it kept.
    await client.query('SET synchronous_commit = off');
    return new BulkWriter(client, options);
  }

  async checkpoint(): Promise<Position> {
    const found = await this.client.query<{ position: string }>(
      `SELECT position FROM ${this.schema}.checkpoint`,
    );
    return BigInt(found.rows[0]?.position ?? -1);
  }

  /** Rows that were appended after the checkpoint come again when the fold goes on from there. Throws `Fenced`. */
  async removeAppendedAfter(projection: AnyProjection, position: Position): Promise<void> {
    const sql = `DELETE FROM ${this.schema}.${projection.table.name} WHERE position > $1`;
    await this.inTransaction(async () => void (await this.client.query(sql, [position.toString()])));
  }

  async load(projection: AnyProjection, keys: readonly RowKey[]): Promise<ProjectedRow[]> {
    const columns = projection.table.primaryKey.map((_, column) => keys.map((key) => key[column] ?? ''));
    const query = {
      name: `load-${projection.name}`,
      text: tableSql(this.schema, projection).load,
      values: columns,
    };
    const found = await this.inTurn(() => this.client.query<Record<string, unknown>>(query));
    return found.rows.map((row) => fromDatabase(projection.table.columns, row));
  }

  /** Appends rows of insert-only tables. Throws `Fenced` or what Postgres says; then nothing was written. */
  async append(chunks: readonly CopyChunk[]): Promise<void> {
    try {
      await this.inTransaction(() => this.copyAll(chunks, false));
    } catch (error) {
      // The log may hold an event twice; the first row of a key stands.
      if (!isDuplicate(error)) throw error;
      await this.inTransaction(() => this.copyAll(chunks, true));
    }
  }

  /** Rows, parked streams and the checkpoint together. Throws `Fenced` or what Postgres says; then nothing was written. */
  async write(
    changes: readonly TableChanges[],
    parked: readonly ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    await this.inTransaction(async () => {
      for (const { projection, lines, removed } of changes) {
        if (removed.length > 0) await this.remove(projection, removed);
        if (lines.length > 0) await this.upsert(projection, lines);
      }
      for (const stream of parked) await parkStream(this.client, this.options.setVersion, stream);
      await this.client.query(
        `UPDATE ${this.schema}.checkpoint SET position = $1, committed_at = clock_timestamp() WHERE position < $1`,
        [upTo.toString()],
      );
    });
  }

  async analyze(projections: readonly AnyProjection[]): Promise<void> {
    for (const { table } of projections) await this.client.query(`ANALYZE ${this.schema}.${table.name}`);
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private async copyAll(chunks: readonly CopyChunk[], staged: boolean): Promise<void> {
    for (const { projection, lines } of chunks) {
      if (staged) await this.throughStage(projection, lines, 'DO NOTHING');
      else await this.copy(`${this.schema}.${projection.table.name}`, columnNames(projection), lines);
    }
  }

  private async upsert(projection: AnyProjection, lines: readonly string[]): Promise<void> {
    const { primaryKey, columns } = projection.table;
    const set = Object.keys(columns)
      .filter((column) => !(primaryKey as readonly string[]).includes(column))
      .map((column) => `${column} = excluded.${column}`);
    await this.throughStage(projection, lines, `(${primaryKey.join(', ')}) DO UPDATE SET ${set.join(', ')}`);
  }

  private async throughStage(
    projection: AnyProjection,
    lines: readonly string[],
    onConflict: string,
  ): Promise<void> {
    const table = `${this.schema}.${projection.table.name}`;
    const names = columnNames(projection);
    await this.client.query(`CREATE TEMP TABLE ${STAGE} (LIKE ${table})`);
    await this.copy(STAGE, names, lines);
    await this.client.query(
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${STAGE} ON CONFLICT ${onConflict}`,
    );
    await this.client.query(`DROP TABLE ${STAGE}`);
  }

  private async copy(table: string, names: string, lines: readonly string[]): Promise<void> {
    const target = this.client.query(copyFrom(`COPY ${table} (${names}) FROM STDIN`));
    await pipeline(Readable.from(blocks(lines)), target);
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
  private inTransaction(work: () => Promise<void>): Promise<void> {
    return this.inTurn(() => this.transaction(work));
  }

  private async transaction(work: () => Promise<void>): Promise<void> {
    await this.client.query('BEGIN');
    try {
      await work();
      const held = await this.client.query(
        'SELECT 1 FROM rollcall.projection_sets WHERE version = $1 AND epoch = $2 FOR SHARE',
        [this.options.setVersion, this.options.epoch.toString()],
      );
      if (held.rowCount !== 1) throw new Fenced();
      await this.client.query('COMMIT');
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}

function columnNames({ table }: AnyProjection): string {
  return Object.keys(table.columns).join(', ');
}

const BLOCK = 256 * 1024;

/** Few large writes instead of one for each line. */
function* blocks(lines: readonly string[]): Generator<Buffer> {
  let block = '';
  for (const line of lines) {
    block += line;
    if (block.length < BLOCK) continue;
    yield Buffer.from(block);
    block = '';
  }
  if (block !== '') yield Buffer.from(block);
}

function isDuplicate(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === UNIQUE_VIOLATION;
}
