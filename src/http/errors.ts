import { isRefusal } from '../refusal.js';
import type { Refusal, RefusalCode } from '../refusal.js';

export type ErrorCode = RefusalCode;

/** Code to status: contract/sessions.md 1.5 and the closed list of additions. */
export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_input: 400,
  wrong_replica: 400,
  unauthorized: 401,
  forbidden: 403,
  not_owner: 403,
  not_found: 404,
  conflict: 409,
  already_exists: 409,
  already_claimed: 409,
  claim_lost: 409,
  lease_lost: 409,
  idempotency_mismatch: 409,
  idempotency_in_progress: 409,
  workspace_missing: 410,
  gone: 410,
  harness_not_configured: 412,
  precondition_failed: 412,
  payload_too_large: 413,
  unprocessable: 422,
  capacity_reached: 429,
  rate_limited: 429,
  internal_error: 500,
  harness_protocol_violation: 500,
  forward_failed: 502,
  runner_unavailable: 503,
  runner_capability_mismatch: 503,
  read_model_behind: 503,
  log_unavailable: 503,
  database_unavailable: 503,
  stream_parked: 503,
};

/** One entry of a 422: the shape that pydantic clients know. */
export interface DetailEntry {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
}

interface ApiErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A domain refusal on its way to the client: `{"error": {code, message}, …details}`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.headers = options.headers ?? {};
    this.details = options.details ?? {};
  }

  static fromRefusal(refusal: Refusal): ApiError {
    return new ApiError(refusal.code, refusal.message, { details: refusal.details });
  }
}

/** What a command or query gave, or its refusal thrown for the filter to answer. */
export function orThrow<Result>(outcome: Result | Refusal): Result {
  if (isRefusal(outcome)) throw ApiError.fromRefusal(outcome);
  return outcome;
}

/** The few answers whose body is `{"detail": …}` instead (contract/sessions.md 1.5). */
export type DetailStatus = 403 | 405 | 415 | 422 | 502;

export class DetailError extends Error {
  readonly status: DetailStatus;
  readonly detail: string | readonly DetailEntry[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: DetailStatus,
    detail: string | readonly DetailEntry[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(typeof detail === 'string' ? detail : 'Unprocessable request');
    this.name = 'DetailError';
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}

/** One body for what is missing, malformed or foreign: existence is not told (contract/sessions.md 1.1). */
export function notFound(): ApiError {
  return new ApiError('not_found', 'Not found.');
}

export function unprocessable(detail: readonly DetailEntry[]): DetailError {
  return new DetailError(422, detail);
}
