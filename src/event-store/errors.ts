/** The log could not be reached in time. `outcome` says whether something may have been written. */
export class LogUnavailable extends Error {
  constructor(
    readonly outcome: 'nothing-written' | 'unknown',
    cause?: unknown,
  ) {
    super('the event log cannot be reached', { cause });
    this.name = 'LogUnavailable';
  }
}

/** The stream was tombstoned by an operator: it can be neither read nor written again. */
export class StreamTombstoned extends Error {
  constructor(readonly stream: string) {
    super(`stream ${stream} was deleted for good`);
    this.name = 'StreamTombstoned';
  }
}

/** One append is above the limit that the log accepts. */
export class AppendTooLarge extends Error {
  constructor(readonly bytes: number) {
    super(`an append of ${bytes} bytes is above the log's limit`);
    this.name = 'AppendTooLarge';
  }
}

const PASSING = new Set([
  'unavailable',
  'cancelled',
  'deadline-exceeded',
  'timeout',
  'unknown',
  'not-leader',
]);
const PASSING_GRPC_CODES = new Set([1, 4, 14]);
const KEPT_GRPC_CODES = new Set([2, 13]);

/** The client rejects first calls with raw gRPC errors that have no `type`, so both are looked at. */
export function isPassing(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('type' in error && typeof error.type === 'string') return PASSING.has(error.type);
  return rawCodeIn(error, PASSING_GRPC_CODES) || isKeptByClient(error);
}

/**
 * The client asks the server once what it can do, and keeps a failure to answer for good unless it broke the
 * connection (UNKNOWN, INTERNAL: a server that is just starting): only another client asks again.
 */
export function isKeptByClient(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && !('type' in error) && rawCodeIn(error, KEPT_GRPC_CODES)
  );
}

function rawCodeIn(error: object, codes: ReadonlySet<number>): boolean {
  return 'code' in error && typeof error.code === 'number' && codes.has(error.code);
}
