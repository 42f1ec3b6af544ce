import pg from 'pg';
import { refuse, type Refusal } from '../refusal.js';

/** Connections for reads and commands of one node. */
const POOL_SIZE = 10;
export const CONNECT_MS = 3_000;
/** How long a connection waits for Postgres, and Postgres for itself. */
export interface ConnectionLimits {
  /** Above the others: a connection that answers nothing is given up and replaced, since bytes on it may be lost. */
  readonly answerMs: number;
  readonly statementMs: number;
  /** 0: as long as the statement may take. */
  readonly lockMs: number;
}

const REQUEST_LIMITS: ConnectionLimits = { answerMs: 16_000, statementMs: 15_000, lockMs: 0 };
/** How long a success speaks for the next command. */
const FRESH_MS = 250;
const PING_MS = 1_000;

/** The pool for reads and commands. The engine has a connection of its own. */
export class Database {
  readonly pool: pg.Pool;
  private lastSuccess = Number.NEGATIVE_INFINITY;
  private doubtedAt = Number.NEGATIVE_INFINITY;

  /** `now` in milliseconds of a clock that only goes forward. */
  constructor(
    readonly url: string,
    poolSize = POOL_SIZE,
    readonly now: () => number = () => performance.now(),
    limits: ConnectionLimits = REQUEST_LIMITS,
  ) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: limits.statementMs,
      lock_timeout: limits.lockMs,
      query_timeout: limits.answerMs,
      keepAlive: true,
      application_name: 'rollcall',
    });
    // Without a listener an idle connection that the server ends would end this process; it is also the first to know.
    this.pool.on('error', () => this.doubt());
  }

  async query<Row extends object>(
    name: string,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const begun = this.now();
    const result = await this.pool.query<Row>({ name, text, values: [...values] });
    this.succeeded(begun);
    return result.rows;
  }

  /** Whoever talked to Postgres with success says when it began: an answer may arrive after the news of an end. */
  succeeded(begun: number): void {
    if (begun > this.doubtedAt) this.lastSuccess = Math.max(this.lastSuccess, begun);
  }

  /** Whoever lost a connection says so: no success before speaks for Postgres any more. */
  doubt(): void {
    this.doubtedAt = this.now();
    this.lastSuccess = Number.NEGATIVE_INFINITY;
  }

  /** Null while Postgres answers. A command asks before it appends: what could not be shown is not accepted. */
  async refusalIfAway(): Promise<Refusal | null> {
    const begun = this.now();
    if (begun - this.lastSuccess < FRESH_MS) return null;
    try {
      await this.pool.query({ text: 'SELECT 1', query_timeout: PING_MS } as pg.QueryConfig);
      this.succeeded(begun);
      return null;
    } catch {
      return refuse('database_unavailable', 'The database cannot be reached; nothing was stored.');
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
