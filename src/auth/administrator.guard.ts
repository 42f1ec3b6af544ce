import { Inject, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../http/errors.js';
import { AUTH_OPTIONS } from './auth-options.js';
import type { AuthOptions } from './auth-options.js';
import type { Principal } from './principal.js';

/** Lets administrators through, 403 for everybody else. Without authentication all is open (contract/sessions.md 1.7). */
@Injectable()
export class AdministratorGuard implements CanActivate {
  constructor(@Inject(AUTH_OPTIONS) private readonly options: AuthOptions) {}

  canActivate(context: ExecutionContext): boolean {
    const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
    if (principal !== null && isAdministrator(this.options, principal)) return true;
    throw new ApiError('forbidden', 'Only administrators may do this.');
  }
}

function isAdministrator(options: AuthOptions, principal: Principal): boolean {
  switch (options.mode) {
    case 'none':
      return true;
    case 'header':
      return principal.kind === 'user' && options.administrators.has(principal.id);
  }
}
