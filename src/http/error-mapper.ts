import { HttpException } from '@nestjs/common';
import { logRefusal } from '../event-store/log-refusal.js';
import { isDatabaseUnavailable, isUnstorableText } from './database-errors.js';
import { ApiError, DetailError, notFound, STATUS_OF } from './errors.js';
import type { DetailEntry, ErrorCode } from './errors.js';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Our own fault: to be logged, and nothing of it told. */
  readonly isFault: boolean;
}

const RETRY_AFTER_SECONDS = '1';

/** Every thrown thing to its one answer (contract/sessions.md 1.5). */
export function answerFor(error: unknown): ErrorAnswer {
  if (error instanceof ApiError) return answerForCode(error);
  if (error instanceof DetailError) {
    return { status: error.status, headers: error.headers, body: { detail: error.detail }, isFault: false };
  }
  const code = frameworkCode(error);
  if (code !== null) return answerForFramework(code);
  if (error instanceof HttpException) return answerForStatus(error.getStatus(), error.message);
  if (isDatabaseUnavailable(error)) {
    return answerForCode(new ApiError('database_unavailable', 'The database is not available.'));
  }
  if (isUnstorableText(error)) {
    return answerForCode(new ApiError('unprocessable', 'Text must not contain NUL or unpaired surrogates'));
  }
  const refusal = logRefusal(error);
  return refusal ? answerForCode(ApiError.fromRefusal(refusal)) : internalError();
}

function answerForCode(error: ApiError): ErrorAnswer {
  const { code, message, details } = error;
  const status = STATUS_OF[code];
  const headers = status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS, ...error.headers } : error.headers;
  switch (code) {
    case 'unprocessable':
      return { status, headers, body: { detail: [detailEntry(message, details)] }, isFault: false };
    case 'forward_failed':
      return { status, headers, body: { detail: message }, isFault: false };
    default:
      return { status, headers, body: { error: { code, message }, ...details }, isFault: false };
  }
}

function detailEntry(msg: string, details: Readonly<Record<string, unknown>>): DetailEntry {
  const { type, loc, input } = details;
  return {
    type: typeof type === 'string' ? type : 'value_error',
    loc: isLocation(loc) ? loc : ['body'],
    msg,
    input: input ?? null,
  };
}

function isLocation(loc: unknown): loc is DetailEntry['loc'] {
  return Array.isArray(loc) && loc.every((step) => typeof step === 'string' || typeof step === 'number');
}

/** Fastify's `FST_ERR_*`, directly or as the cause of the HttpException that Nest wraps around it. */
function frameworkCode(error: unknown): string | null {
  const source = error instanceof HttpException ? error.cause : error;
  if (!(source instanceof Error) || !('code' in source) || typeof source.code !== 'string') return null;
  return source.code.startsWith('FST_ERR_') ? source.code : null;
}

function answerForFramework(code: string): ErrorAnswer {
  switch (code) {
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_NOT_FOUND':
      return answerForCode(notFound());
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return answerForStatus(415, '');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return answerForStatus(413, '');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return answerForStatus(400, 'The body does not have the length that Content-Length says.');
    default:
      return internalError();
  }
}

/** What a Nest HttpException of this status means here; a status that the contract does not know is a fault. */
function answerForStatus(status: number, message: string): ErrorAnswer {
  switch (status) {
    case 404:
      return answerForCode(notFound());
    case 405:
      return { status, headers: {}, body: { detail: 'Method Not Allowed' }, isFault: false };
    case 413:
      return answerForCode(new ApiError('payload_too_large', 'The request body is too large.'));
    case 415:
      return { status, headers: {}, body: { detail: 'Unsupported media type' }, isFault: false };
    case 422:
      return answerForCode(new ApiError('unprocessable', message));
  }
  const code = CODE_OF_STATUS[status];
  return code === undefined ? internalError() : answerForCode(new ApiError(code, message));
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_input',
  401: 'unauthorized',
  403: 'forbidden',
  409: 'conflict',
  410: 'gone',
  412: 'precondition_failed',
  429: 'rate_limited',
};

function internalError(): ErrorAnswer {
  const body = { error: { code: 'internal_error', message: 'An internal error occurred.' } };
  return { status: 500, headers: {}, body, isFault: true };
}
