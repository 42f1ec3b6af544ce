import { Inject, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../http/errors.js';
import { AUTH_OPTIONS } from './auth-options.js';
import type { AuthOptions } from './auth-options.js';
import { authenticate } from './authenticate.js';
import { isPublicRoute } from './request-principal.js';

/** Gives every request its principal; 401 where none is to be had, except on a public route, where it stays null. */
@Injectable()
export class PrincipalGuard implements CanActivate {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: AuthOptions,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const principal = authenticate(this.options, request.raw);
    if (principal === null && !isPublicRoute(this.reflector, context)) {
      throw new ApiError('unauthorized', 'Authentication required.');
    }
    request.principal = principal;
    return true;
  }
}
