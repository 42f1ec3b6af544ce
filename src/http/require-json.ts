import { UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DetailError } from './errors.js';

/**
 * 415 where no content type is said, also without a body (contract/sessions.md 1.6: session creation, hooks, …).
 * Every type but JSON, and multipart where it is read, was refused before a guard runs.
 */
class ContentTypeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (headers['content-type'] === undefined) throw new DetailError(415, 'Unsupported media type');
    return true;
  }
}

export const RequireContentType = () => UseGuards(ContentTypeGuard);
