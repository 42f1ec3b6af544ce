import { Inject, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../http/errors.js';
import { AUTH_OPTIONS } from './auth-options.js';
import type { AuthOptions } from './auth-options.js';
import { authenticate } from './authenticate.js';
import { ANONYMOUS } from './principal.js';
import { PUBLIC_ROUTE } from './request-principal.js';

/** Gives every request its principal; 401 where none is to be had and the route is not public. */
@Injectable()
export class PrincipalGuard implements CanActivate {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: AuthOptions,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const principal = authenticate(this.options, request.raw);
    if (principal === null && !this.isPublic(context)) {
      throw new ApiError('unauthorized', 'Authentication required.');
    }
    request.principal = principal ?? ANONYMOUS;
    return true;
  }

  private isPublic(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    return this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC_ROUTE, targets) === true;
  }
}
