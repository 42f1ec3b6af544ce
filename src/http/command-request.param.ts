import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { principalKey } from '../auth/principal.js';
import { digest, type CommandRequest } from '../command-handling/command-request.js';
import { bodyHash } from './canonical-json.js';
import { parseIdempotencyKey, prefersAsync } from './headers.js';

/** The request as commands see it. An Idempotency-Key counts within (principal, method, route, target) (design 3). */
export const FromRequest = createParamDecorator((_: unknown, context: ExecutionContext): CommandRequest => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { principal, id, headers, method, body } = request;
  if (principal === null) throw new Error('The principal was asked for before the guard had run');
  const key = parseIdempotencyKey(headers['idempotency-key']);
  const scope = [
    principalKey(principal),
    method,
    request.routeOptions.url ?? '',
    JSON.stringify(request.params),
  ];
  return {
    principal,
    requestId: id,
    idempotency: key === null ? null : { key: digest(...scope, key), hash: bodyHash(body ?? {}) },
    waits: !prefersAsync(headers['prefer']),
  };
});
