import pg from 'pg';
import { refuse, type Refusal } from '../refusal.js';

/** Connections for reads and commands of one node. */
const POOL_SIZE = 10;
export const CONNECT_MS = 3_000;
const STATEMENT_MS = 15_000;
/** How long a success speaks for the next command. */
const FRESH_MS = 250;
const PING_MS = 1_000;

/** The pool for reads and commands. The engine has a connection of its own. */
export class Database {
  readonly pool: pg.Pool;
  private lastSuccess = 0;

  constructor(
    readonly url: string,
    poolSize = POOL_SIZE,
  ) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      keepAlive: true,
      application_name: 'rollcall',
    });
    // Without a listener an idle connection that the server ends would end this process; it is also the first to know.
    this.pool.on('error', () => {
      this.lastSuccess = Number.NEGATIVE_INFINITY;
    });
  }

  async query<Row extends object>(
    name: string,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const result = await this.pool.query<Row>({ name, text, values: [...values] });
    this.succeeded();
    return result.rows;
  }

  /** Whoever talked to Postgres with success says so. */
  succeeded(): void {
    this.lastSuccess = performance.now();
  }

  /** Null while Postgres answers. A command asks before it appends: what could not be shown is not accepted. */
  async refusalIfAway(): Promise<Refusal | null> {
    if (performance.now() - this.lastSuccess < FRESH_MS) return null;
    try {
      await this.pool.query({ text: 'SELECT 1', query_timeout: PING_MS } as pg.QueryConfig);
      this.succeeded();
      return null;
    } catch {
      return refuse('database_unavailable', 'The database cannot be reached; nothing was stored.');
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
