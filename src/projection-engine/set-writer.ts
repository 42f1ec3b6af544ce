import pg from 'pg';
import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedEvent, RowKey } from '../../projections/projection.js';
import type { Position } from '../event-store/position.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { emptyBuffer, foldInto, keysTouched } from './batch-fold.js';
import type { ParkedStream } from './parking.js';
import { fromDatabase, toJsonRow } from './row-codec.js';
import type { RowBuffer } from './row-buffer.js';
import { schemaOf } from './set-version.js';
import { tableSql, type TableSql } from './table-sql.js';

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
  readonly projection: AnyProjection;
  readonly sql: TableSql;
}

export const CHECKPOINT_CHANNEL = 'rollcall_checkpoint';

/** Writes batches: rows, parked streams and checkpoint in one transaction, refused when the epoch is not the owner's. */
export class SetWriter {
  private readonly tables: readonly Table[];
  private readonly schema: string;

  private constructor(
    private readonly client: pg.Client,
    private readonly setVersion: string,
    private readonly epoch: bigint,
    private readonly faults: FaultPoints,
    projections: readonly AnyProjection[],
  ) {
    this.schema = schemaOf(setVersion);
    this.tables = projections.map((projection) => ({ projection, sql: tableSql(this.schema, projection) }));
  }

  static async connect(options: {
    url: string;
    setVersion: string;
    epoch: bigint;
    projections: readonly AnyProjection[];
    faults: FaultPoints;
    lost: (error: Error) => void;
  }): Promise<SetWriter> {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: 'rollcall-engine',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      statement_timeout: STATEMENT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 1_000,
    });
    client.on('error', options.lost);
    await client.connect();
    return new SetWriter(client, options.setVersion, options.epoch, options.faults, options.projections);
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
    await this.client.query('BEGIN');
    try {
      for (const table of this.tables) await this.writeTable(table, events);
      for (const stream of parked) await this.park(stream);
      await this.faults.pass('before-checkpoint');
      await this.advance(upTo);
      await this.client.query('COMMIT');
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
    await this.faults.pass('after-commit');
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private async writeTable({ projection, sql }: Table, events: readonly ProjectedEvent[]): Promise<void> {
    const keys = keysTouched(projection, events);
    if (keys.length === 0) return;
    const buffer = emptyBuffer(projection);
    if (!projection.table.insertOnly) await this.load(projection, sql, keys, buffer);
    foldInto(buffer, projection, events);
    const removed = buffer.removed();
    if (removed.length > 0)
      await this.client.query({
        name: `remove-${projection.name}`,
        text: sql.remove,
        values: transposed(removed),
      });
    const rows = buffer.written().map((row) => toJsonRow(projection.table.columns, row));
    if (rows.length > 0) {
      await this.client.query({
        name: `write-${projection.name}`,
        text: sql.write,
        values: [JSON.stringify(rows)],
      });
    }
  }

  private async load(
    projection: AnyProjection,
    sql: TableSql,
    keys: RowKey[],
    buffer: RowBuffer,
  ): Promise<void> {
    const found = await this.client.query<Record<string, unknown>>({
      name: `load-${projection.name}`,
      text: sql.load,
      values: transposed(keys),
    });
    for (const row of found.rows) buffer.load(fromDatabase(projection.table.columns, row));
  }

  private async park(stream: ParkedStream): Promise<void> {
    await this.client.query(
      `INSERT INTO rollcall.parked_streams (set_version, stream, revision, position, event_id, event_type, reason)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
      [
        this.setVersion,
        stream.stream,
        stream.revision.toString(),
        stream.position.toString(),
        stream.eventId,
        stream.eventType,
        stream.reason,
      ],
    );
  }

  /** The share lock is taken last, so that a takeover never waits for a whole batch. */
  private async advance(upTo: Position): Promise<void> {
    const held = await this.client.query({
      name: 'fence',
      text: 'SELECT 1 FROM rollcall.projection_sets WHERE version = $1 AND epoch = $2 FOR SHARE',
      values: [this.setVersion, this.epoch.toString()],
    });
    if (held.rowCount !== 1) throw new Fenced();
    await this.client.query({
      name: 'advance',
      text: `WITH moved AS (
               UPDATE ${this.schema}.checkpoint SET position = $1, committed_at = clock_timestamp()
               WHERE position < $1 RETURNING position)
             SELECT pg_notify('${CHECKPOINT_CHANNEL}', $2 || ':' || position) FROM moved`,
      values: [upTo.toString(), this.setVersion],
    });
  }
}

function transposed(keys: readonly RowKey[]): string[][] {
  const width = keys[0]?.length ?? 0;
  return Array.from({ length: width }, (_, column) => keys.map((key) => key[column] ?? ''));
}
