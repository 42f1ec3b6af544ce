import { createParamDecorator, SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './principal.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard; null before it has run. */
    principal: Principal | null;
  }
}

export const PUBLIC_ROUTE = Symbol('public route');

/** Opens a route to callers without a principal (probes). Every other route is closed. */
export const Public = () => SetMetadata(PUBLIC_ROUTE, true);

/** `Principal` */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === null) throw new Error('The principal was asked for before the guard had run');
  return principal;
});
