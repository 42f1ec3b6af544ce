import { Catch, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerFor } from './error-mapper.js';
import { DetailError } from './errors.js';
import { PARKED_HEADER } from './reply-headers.js';

/** The one place where an error becomes an answer. */
@Catch()
export class EdgeExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger('HttpEdge');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    // The client left before its body had arrived: nobody to tell, and no fault of ours.
    if (request.raw.destroyed && !request.raw.complete) return void reply.hijack();
    const answer = answerFor(error);
    if (answer.isFault) this.logFault(error, request);
    if (reply.sent || reply.raw.headersSent) {
      // A stream that has begun is cut off: ending it would look complete.
      if (!reply.raw.writableEnded) reply.raw.destroy();
      return;
    }
    // Fastify closes the connection when a parser fails, for fear of unread bytes; here the body was read whole.
    if (error instanceof DetailError && request.raw.complete) reply.removeHeader('connection');
    reply.removeHeader(PARKED_HEADER);
    void reply.code(answer.status).headers(answer.headers).send(answer.body);
  }

  private logFault(error: unknown, request: FastifyRequest): void {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.logger.error(
      `${request.method} ${request.routeOptions.url ?? '(no route)'} failed [${request.id}]`,
      what,
    );
  }
}
