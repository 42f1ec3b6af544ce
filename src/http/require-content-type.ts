import { UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DetailError } from './errors.js';

const JSON_TYPE = /^application\/(?:json|[\w!#$&^.+-]+\+json)\s*(?:;|$)/i;
const MULTIPART_TYPE = /^multipart\/form-data\s*(?:;|$)/i;

class ContentTypeGuard implements CanActivate {
  constructor(private readonly accepted: readonly RegExp[]) {}

  canActivate(context: ExecutionContext): boolean {
    const type = context.switchToHttp().getRequest<FastifyRequest>().headers['content-type'] ?? '';
    if (this.accepted.some((pattern) => pattern.test(type))) return true;
    throw new DetailError(415, 'Unsupported media type');
  }
}

/** 415 unless the request says it is JSON, with or without a body (contract/sessions.md 1.6: hooks, …). */
export const RequireJson = () => UseGuards(new ContentTypeGuard([JSON_TYPE]));

/** The same for routes that read `multipart/form-data` too (session creation). */
export const RequireJsonOrMultipart = () => UseGuards(new ContentTypeGuard([JSON_TYPE, MULTIPART_TYPE]));
