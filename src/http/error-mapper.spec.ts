import {
  BadRequestException,
  HttpException,
  NotFoundException,
  ServiceUnavailableException,
} from '@nestjs/common';
import { refuse } from '../refusal.js';
import { answerFor } from './error-mapper.js';
import { ApiError, DetailError, orThrow } from './errors.js';

const INTERNAL = { error: { code: 'internal_error', message: 'An internal error occurred.' } };

function withCode(code: string, extra: object = {}): Error {
  return Object.assign(new Error('secret text'), { code, ...extra });
}

describe('refusals', () => {
  it('become their status, message and further members', () => {
    const refusal = refuse('capacity_reached', 'capacity reached', { status: 'rejected' });
    expect(answerFor(ApiError.fromRefusal(refusal))).toEqual({
      status: 429,
      headers: {},
      body: { error: { code: 'capacity_reached', message: 'capacity reached' }, status: 'rejected' },
      isFault: false,
    });
  });

  it('are thrown at the edge, and results pass', () => {
    expect(orThrow({ id: 'x' })).toEqual({ id: 'x' });
    expect(() => orThrow(refuse('conflict', 'Session is closed'))).toThrow(ApiError);
  });

  it('of content become a detail list', () => {
    const refusal = refuse('unprocessable', 'too deep', { loc: ['body', 'parent_session_id'], input: 'x' });
    expect(answerFor(ApiError.fromRefusal(refusal))).toMatchObject({
      status: 422,
      body: {
        detail: [{ type: 'value_error', loc: ['body', 'parent_session_id'], msg: 'too deep', input: 'x' }],
      },
    });
  });

  it('by a runner behind us are 502 with a detail text', () => {
    expect(answerFor(new ApiError('forward_failed', 'no'))).toMatchObject({
      status: 502,
      body: { detail: 'no' },
    });
  });

  it.each([
    'read_model_behind',
    'log_unavailable',
    'database_unavailable',
    'stream_parked',
    'runner_unavailable',
  ] as const)('%s says when to come back', (code) => {
    expect(answerFor(new ApiError(code, 'x'))).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    });
  });

  it('carry their own headers', () => {
    const error = new ApiError('stream_parked', 'x', { headers: { 'rollcall-parked': 'x' } });
    expect(answerFor(error).headers).toEqual({ 'retry-after': '1', 'rollcall-parked': 'x' });
  });

  it('of the transport keep the detail form', () => {
    expect(answerFor(new DetailError(405, 'Method Not Allowed', { allow: 'GET' }))).toEqual({
      status: 405,
      headers: { allow: 'GET' },
      body: { detail: 'Method Not Allowed' },
      isFault: false,
    });
  });
});

describe("the frameworks' own errors", () => {
  it.each([
    [
      new NotFoundException('Cannot GET /secret'),
      404,
      { error: { code: 'not_found', message: 'Not found.' } },
    ],
    [new BadRequestException('x is bad'), 400, { error: { code: 'invalid_input', message: 'x is bad' } }],
    [new HttpException('x', 409), 409, { error: { code: 'conflict', message: 'x' } }],
    [new HttpException('x', 415), 415, { detail: 'Unsupported media type' }],
    [withCode('FST_ERR_BAD_URL'), 404, { error: { code: 'not_found', message: 'Not found.' } }],
    [
      withCode('FST_ERR_CTP_BODY_TOO_LARGE'),
      413,
      { error: { code: 'payload_too_large', message: expect.any(String) as string } },
    ],
    [
      new HttpException('x', 413, { cause: withCode('FST_ERR_CTP_BODY_TOO_LARGE') }),
      413,
      { error: { code: 'payload_too_large', message: expect.any(String) as string } },
    ],
  ])('%s', (error, status, body) => {
    expect(answerFor(error)).toMatchObject({ status, body, isFault: false });
  });
});

describe('an unreachable database', () => {
  const refused = withCode('ECONNREFUSED', { syscall: 'connect' });
  it.each([
    ['class 08', withCode('08006')],
    ['shutdown', withCode('57P01')],
    ['starting up', withCode('57P03')],
    ['no connections left', withCode('53300')],
    ['connection refused', refused],
    [
      'refused on every address',
      Object.assign(new AggregateError([refused, refused]), { code: 'ECONNREFUSED' }),
    ],
    ['a connection lost in a query', new Error('Connection terminated unexpectedly')],
    ['a pool that waited in vain', new Error('timeout exceeded when trying to connect')],
  ])('%s is 503', (_, error) => {
    expect(answerFor(error)).toEqual({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: { code: 'database_unavailable', message: 'The database is not available.' } },
      isFault: false,
    });
  });
});

it.each(['22021', '22P05'])('a text that Postgres cannot hold (%s) is 422', (code) => {
  expect(answerFor(withCode(code))).toMatchObject({ status: 422, body: { detail: [{}] }, isFault: false });
});

describe('everything else is our fault and tells nothing', () => {
  it.each([
    ['an error', new Error('secret')],
    ['a failed query', withCode('42P01')],
    ['a missing file', withCode('ENOENT', { syscall: 'open' })],
    ['a status that the contract does not know', new ServiceUnavailableException('secret')],
    ['a fault inside Fastify', withCode('FST_ERR_HOOK_TIMEOUT')],
    ['a text', 'secret'],
    ['nothing', undefined],
    ['an aggregate of nothing', new AggregateError([])],
  ])('%s', (_, error) => {
    expect(answerFor(error)).toEqual({ status: 500, headers: {}, body: INTERNAL, isFault: true });
  });
});
