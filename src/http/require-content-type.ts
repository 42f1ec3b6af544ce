import { UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DetailError } from './errors.js';

const JSON_TYPE = /^application\/(?:json|[\w!#$&^.+-]+\+json)\s*(?:;|$)/i;

class JsonGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const type = context.switchToHttp().getRequest<FastifyRequest>().headers['content-type'] ?? '';
    if (JSON_TYPE.test(type)) return true;
    throw new DetailError(415, 'Unsupported media type');
  }
}

/** 415 unless the request says it is JSON, with or without a body (contract/sessions.md 1.6: hooks, …). */
export const RequireJson = () => UseGuards(new JsonGuard());
