/** Besides class 08: shut down by an operator, crashed, still starting, and out of connections. */
const UNAVAILABLE_STATES = new Set(['57P01', '57P02', '57P03', '53300']);

/** A character, or a JSON escape, that no column can hold: NUL and its like. */
const UNSTORABLE_STATES = new Set(['22021', '22P05']);

const CONNECT_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** How a socket fails; a file's ENOENT has another syscall and is no outage. */
const SOCKET_CALLS = new Set(['connect', 'read', 'write', 'getaddrinfo']);

/** What pg itself says without a code. */
const PG_MESSAGES =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether Postgres could not be reached, so that the same request may succeed in a moment. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every(isDatabaseUnavailable);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^08[0-9A-Z]{3}$/.test(code) || UNAVAILABLE_STATES.has(code)) return true;
  if (CONNECT_ERRORS.has(code)) {
    return 'syscall' in error && typeof error.syscall === 'string' && SOCKET_CALLS.has(error.syscall);
  }
  return PG_MESSAGES.test(error.message);
}

/**
 * Whether Postgres refused a text that it cannot hold. The rules of the edge come first; this is for the member that
 * they forgot.
 */
export function isUnstorableText(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    UNSTORABLE_STATES.has(error.code)
  );
}
