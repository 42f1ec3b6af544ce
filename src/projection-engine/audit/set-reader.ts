import pg from 'pg';
import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ColumnType, RowKey } from '../../../projections/projection.js';
import { CONNECT_MS } from '../../database/database.js';
import { keyName } from '../row-buffer.js';
import { selected, toValue } from './column-values.js';
import type { PageSource } from './merge.js';
import type { ComparableRow } from './row-differences.js';
import type { SessionScope } from './session-scope.js';

const PAGE_ROWS = 5_000;
/** A reader that hangs must not hold its snapshot: it would keep Postgres from tidying up behind every update. */
const IDLE_MS = 70_000;
const STATEMENT_MS = 70_000;
const LOCK_MS = 30_000;

/** Which rows of a table are read: after a key, and of some sessions alone. */
export interface RowRange {
  readonly after: RowKey | null;
  /** Null: of all. */
  readonly scope: SessionScope | null;
}

export interface ReaderOptions {
  readonly signal: AbortSignal;
  readonly pageRows?: number;
}

/** Reads the tables of one set as they stood at one instant. */
export class SetReader {
  private cursors = 0;

  private constructor(
    private readonly client: pg.Client,
    private readonly schema: string,
    private readonly pageRows: number,
  ) {}

  /** Throws what Postgres says, e.g. when the set is not there. */
  static async open(
    url: string,
    schema: string,
    projections: readonly AnyProjection[],
    { pageRows = PAGE_ROWS, signal }: ReaderOptions,
  ): Promise<SetReader> {
    signal.throwIfAborted();
    const client = new pg.Client({
      connectionString: url,
      application_name: 'rollcall-audit',
      idle_in_transaction_session_timeout: IDLE_MS,
      statement_timeout: STATEMENT_MS,
      lock_timeout: LOCK_MS,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    // What was lost shows in the next query.
    client.on('error', () => undefined);
    // In the middle of a query it breaks the connection off.
    const leave = (): void => void client.end().catch(() => undefined);
    signal.addEventListener('abort', leave);
    client.once('end', () => signal.removeEventListener('abort', leave));
    try {
      await client.connect();
      await client.query(`SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET work_mem = '64MB';
         SET client_connection_check_interval = '1s'`);
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      // Before the snapshot is taken: a table that is swapped in afterwards would look empty in it.
      const tables = ['checkpoint', ...projections.map(({ table }) => table.name)];
      const names = tables.map((name) => `${schema}.${name}`).join(', ');
      await client.query(`LOCK TABLE ${names} IN ACCESS SHARE MODE`);
      await client.query('SELECT 1');
      return new SetReader(client, schema, pageRows);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  async query<Row extends object>(
    name: string,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return (await this.client.query<Row>({ name, text, values: [...values] })).rows;
  }

  /** The rows of a table by key and digest. Sorted by Postgres, so memory here is that of a page. */
  digests(projection: AnyProjection, range: RowRange): PageSource {
    const cursor = `audit_${(this.cursors += 1)}`;
    let declared = false;
    return async () => {
      if (!declared) await this.declare(cursor, projection, range);
      declared = true;
      const { rows } = await this.client.query<string[]>({
        text: `FETCH ${this.pageRows} FROM ${cursor}`,
        rowMode: 'array',
      });
      if (rows.length === 0) await this.client.query(`CLOSE ${cursor}`);
      return rows.map((row) => ({ key: row.slice(0, -1), digest: row.at(-1) ?? '' }));
    };
  }

  /** The rows of these keys, by the name of the key. */
  async rows({ table }: AnyProjection, keys: readonly RowKey[]): Promise<Map<string, ComparableRow>> {
    const columns = Object.entries<ColumnType>(table.columns);
    const list = columns.map(([column, type]) => selected(`t.${column}`, type).replace(/ AS t\./, ' AS '));
    const arrays = table.primaryKey.map((_, index) => `$${index + 1}::text[]`);
    const match = table.primaryKey.map((column) => `t.${column} = k.${column}`);
    const found = await this.query<Record<string, unknown>>(
      `rows-${table.name}`,
      `SELECT ${list.join(', ')} FROM unnest(${arrays.join(', ')}) AS k(${table.primaryKey.join(', ')})
       JOIN ${this.schema}.${table.name} t ON ${match.join(' AND ')}`,
      table.primaryKey.map((_, index) => keys.map((key) => key[index] ?? '')),
    );
    return new Map(
      found.map((row) => {
        const values = Object.fromEntries(
          columns.map(([column, type]) => [column, toValue(type, row[column])]),
        );
        return [keyName(table.primaryKey.map((column) => String(values[column]))), values];
      }),
    );
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private async declare(cursor: string, { table }: AnyProjection, { after, scope }: RowRange): Promise<void> {
    const key = table.primaryKey.map((column) => `${column} COLLATE "C"`).join(', ');
    const values: unknown[] = [];
    const placeholder = (value: unknown): string => `$${values.push(value)}`;
    const conditions: string[] = [];
    if (scope) {
      const own = `${scope.own} = ANY(${placeholder(scope.ids)}::text[])`;
      const { ancestors } = scope;
      conditions.push(ancestors ? `(${own} OR ${ancestors} @> ARRAY[${placeholder(scope.top)}::text])` : own);
    }
    if (after) {
      const parts = after.map((part) => `${placeholder(part)}::text`);
      conditions.push(`ROW(${key}) > ROW(${parts.join(', ')})`);
    }
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const columns = Object.keys(table.columns).join(', ');
    await this.client.query(
      `DECLARE ${cursor} NO SCROLL CURSOR FOR
       SELECT ${table.primaryKey.join(', ')}, encode(sha256(convert_to(ROW(${columns})::text, 'UTF8')), 'base64')
       FROM ${this.schema}.${table.name} ${where} ORDER BY ${key}`,
      values,
    );
  }
}
