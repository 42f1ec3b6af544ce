import Libsql from 'libsql';

/** What may be bound to a statement. Anything else can abort the process inside the native binding. */
export type SqlValue = string | bigint | number | Buffer | null;
export type SqlRow = readonly unknown[];

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

function assertBindable(value: unknown): void {
  if (value === null) return;
  switch (typeof value) {
    case 'bigint':
      if (value < INT64_MIN || value > INT64_MAX) throw new RangeError('an SQL integer has 64 bits');
      return;
    case 'number':
      if (!Number.isSafeInteger(value)) throw new RangeError('an SQL number must be a safe integer');
      return;
    case 'string':
      // Text with NUL is stored whole and read back cut.
      if (value.includes('\0')) throw new TypeError('SQL text must not hold NUL: bind a Buffer');
      return;
    case 'object':
      if (Buffer.isBuffer(value)) return;
      break;
    default:
  }
  throw new TypeError(`a value of type ${typeof value} cannot be bound to SQL`);
}

/**
 * A prepared statement. The native binding reuses the previous call's value for a missing parameter and
 * aborts the process for some types, so the count and every type are checked before it is called.
 */
export class SqlStatement {
  private readonly parameters: number;

  constructor(
    private readonly native: Libsql.Statement,
    sql: string,
  ) {
    this.parameters = sql.split('?').length - 1;
  }

  run(values: readonly SqlValue[]): void {
    this.native.run(this.checked(values));
  }

  /**
   * The first row. Not by the binding's `get`: after an `all` on the same statement it answers for the old
   * values, and it leaves a read transaction open that holds the write-ahead log back.
   */
  first(values: readonly SqlValue[]): SqlRow | undefined {
    return this.all(values)[0];
  }

  all(values: readonly SqlValue[]): readonly SqlRow[] {
    return this.native.all(this.checked(values)) as SqlRow[];
  }

  private checked(values: readonly SqlValue[]): readonly SqlValue[] {
    const given: unknown = values;
    if (!Array.isArray(given) || given.length !== this.parameters) {
      throw new TypeError(`the statement takes exactly ${this.parameters} values in one array`);
    }
    // An indexed loop, because `forEach` skips the holes of a sparse array.
    for (let index = 0; index < values.length; index += 1) assertBindable(values[index]);
    return values;
  }
}

/** Its declarations leave the method out. */
type Connection = Libsql.Database & { interrupt(): void };

/** Kept from the collector of garbage, which would free them. */
const abandoned: Connection[] = [];

/** The one place that touches the storage engine. Rows are arrays; integers are bigint. */
export class SqlDatabase {
  private readonly native: Connection;

  /** `file` is a path, or `:memory:`. Throws an error with `code` `SQLITE_…`. */
  constructor(file: string) {
    this.native = new Libsql(file) as Connection;
  }

  exec(sql: string): void {
    this.native.exec(sql);
  }

  prepare(sql: string): SqlStatement {
    const statement = this.native.prepare(sql);
    // `raw` is refused for statements that answer no rows.
    if (statement.reader) statement.raw().safeIntegers();
    return new SqlStatement(statement, sql);
  }

  transaction<Result>(work: () => Result): Result {
    this.native.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.native.exec('COMMIT');
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** Others may read between two steps, and see what is not committed yet; nobody else may write. */
  *transactionInSteps<Result>(work: () => Generator<void, Result>): Generator<void, Result> {
    this.native.exec('BEGIN IMMEDIATE');
    try {
      const result = yield* work();
      this.native.exec('COMMIT');
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /**
   * Brings the write-ahead log into the file and lets go of the lock. The binding frees the connection only
   * when its statements are collected as garbage, and until then the lock would stay.
   */
  close(): void {
    try {
      this.intoOneFile();
    } catch {
      // A file that cannot be read, or a full disk: the next start finds the write-ahead log where it is.
    }
    this.native.close();
  }

  /** As `close`, for a file that must hold everything by itself. Throws when it does not. */
  closeWhole(): void {
    this.intoOneFile();
    this.native.close();
  }

  /**
   * Leaves every file as it is: a log that was refused may be repaired from its bytes. The lock goes with this process,
   * because a connection that is freed earlier removes a write-ahead log in which it finds nothing whole.
   */
  abandon(): void {
    // The end of the process frees it all the same, and an interrupted connection then brings nothing into the file.
    this.native.interrupt();
    abandoned.push(this.native);
  }

  private intoOneFile(): void {
    this.native.exec(
      'PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema',
    );
  }

  private rollBack(): void {
    if (this.native.inTransaction) this.native.exec('ROLLBACK');
  }
}

/** A BLOB column. Inside another realm (a test runner's) the binding answers a foreign ArrayBuffer. */
export function blobColumn(row: SqlRow, column: number): Buffer {
  const value = row[column];
  if (Buffer.isBuffer(value)) return value;
  if (Object.prototype.toString.call(value) === '[object ArrayBuffer]') {
    return Buffer.from(value as ArrayBuffer);
  }
  throw new TypeError(`column ${column} is not a BLOB`);
}

export function integerColumn(row: SqlRow, column: number): bigint {
  const value = row[column];
  if (typeof value !== 'bigint') throw new TypeError(`column ${column} is not an integer`);
  return value;
}

export function errorCode(error: unknown): string | undefined {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
