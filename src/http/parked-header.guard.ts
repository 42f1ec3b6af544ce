import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StreamNames } from '../event-store/stream-names.js';
import { parseId } from '../ids.js';
import { ParkedStreams } from '../projection-engine/parked-streams.js';
import { PARKED_HEADER } from './reply-headers.js';

/**
 * Answers about a session whose stream is parked say so: what they show ends before the event that parked it. The
 * exception filter takes the header away again, since a refusal must not tell whether the session exists.
 */
@Injectable()
export class ParkedHeaderGuard implements CanActivate {
  constructor(
    private readonly parked: ParkedStreams,
    private readonly names: StreamNames,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.parked.size === 0) return true;
    const http = context.switchToHttp();
    const { params } = http.getRequest<FastifyRequest<{ Params: Record<string, string> }>>();
    const id = parseId('session', params['id'] ?? '');
    if (id !== null && this.parked.has(this.names.session(id))) {
      void http.getResponse<FastifyReply>().header(PARKED_HEADER, 'true');
    }
    return true;
  }
}
