import { Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, tap } from 'rxjs';
import { StreamNames } from '../event-store/stream-names.js';
import { parseId } from '../ids.js';
import { ParkedStreams } from '../projection-engine/parked-streams.js';

/** Answers about a session whose stream is parked say so: what they show ends before the event that parked it. */
@Injectable()
export class ParkedHeaderInterceptor implements NestInterceptor {
  constructor(
    private readonly parked: ParkedStreams,
    private readonly names: StreamNames,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (this.parked.size === 0) return next.handle();
    const http = context.switchToHttp();
    const { params } = http.getRequest<FastifyRequest<{ Params: Record<string, string> }>>();
    const id = parseId('session', params['id'] ?? '');
    if (id === null || !this.parked.has(this.names.session(id))) return next.handle();
    // Only with an answer: a refusal must not tell whether the session exists.
    return next
      .handle()
      .pipe(tap(() => void http.getResponse<FastifyReply>().header('rollcall-parked', 'true')));
  }
}
