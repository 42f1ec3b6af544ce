import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { principalKey, type Principal } from '../auth/principal.js';
import { digest, type CommandRequest } from '../command-handling/command-request.js';
import { bodyHash } from './canonical-json.js';
import { parseIdempotencyKey, prefersAsync } from './headers.js';

/** The request as commands see it. An Idempotency-Key counts within (principal, method, route, target) (design 3). */
export const FromRequest = createParamDecorator((_: unknown, context: ExecutionContext): CommandRequest => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { principal, id, headers, body } = request;
  if (principal === null) throw new Error('A command was read where there is no principal');
  const key = parseIdempotencyKey(headers['idempotency-key']);
  return {
    principal,
    requestId: id,
    idempotency:
      key === null ? null : { key: scopedKey(request, principal, key), hash: bodyHash(body ?? {}) },
    waits: !prefersAsync(headers['prefer']),
  };
});

function scopedKey(
  { method, routeOptions, params }: FastifyRequest,
  principal: Principal,
  key: string,
): string {
  return digest(principalKey(principal), method, routeOptions.url ?? '', JSON.stringify(params), key);
}
