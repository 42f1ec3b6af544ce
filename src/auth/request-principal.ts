import { createParamDecorator, SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './principal.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard; null before it has run, and for a stranger on a public route. */
    principal: Principal | null;
  }
}

const PUBLIC_ROUTE = Symbol('public route');

/** Opens a route to callers without a principal (probes). Every other route is closed. */
export const Public = () => SetMetadata(PUBLIC_ROUTE, true);

export function isPublicRoute(reflector: Reflector, context: ExecutionContext): boolean {
  const targets = [context.getHandler(), context.getClass()];
  return reflector.getAllAndOverride<boolean | undefined>(PUBLIC_ROUTE, targets) === true;
}

/** `Principal`; a route that may have none must not ask for one. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === null) throw new Error('The principal was asked for where there is none');
  return principal;
});
