import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { parseIdempotencyKey, parseIfMatch, parseMinPosition, prefersAsync } from './headers.js';

function headersOf(context: ExecutionContext): FastifyRequest['headers'] {
  return context.switchToHttp().getRequest<FastifyRequest>().headers;
}

/** `string | null` */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseIdempotencyKey(headersOf(context)['idempotency-key']),
);

/** `Position | null` */
export const MinPosition = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseMinPosition(headersOf(context)['rollcall-min-position']),
);

/** `boolean` */
export const RespondAsync = createParamDecorator((_: unknown, context: ExecutionContext) =>
  prefersAsync(headersOf(context)['prefer']),
);

/** `IfMatch | null` */
export const IfMatchHeader = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseIfMatch(headersOf(context)['if-match']),
);
