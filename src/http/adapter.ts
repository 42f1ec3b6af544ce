import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerFor } from './error-mapper.js';
import { ApiError, DetailError, notFound, unprocessable } from './errors.js';
import { parseJsonBody } from './json-body.js';
import { replyJson } from './json-reply.js';
import { isHostAllowed, isOriginAllowed, isSafeMethod } from './request-origin.js';
import type { OriginPolicy } from './request-origin.js';
import { RouteTable } from './route-table.js';
import '../auth/request-principal.js';

export type HttpAdapterOptions = OriginPolicy;

export const JSON_BODY_LIMIT = 16 * 1024 * 1024;

/** Longer path parameters cannot name anything: prompt ids of 255 code points, percent-encoded, are the longest. */
const MAX_PATH_PARAMETER = 4096;

/** The whole of a request must arrive in this time; Fastify would wait for ever. */
const REQUEST_TIMEOUT_MS = 300_000;

/** Present on every answer. Code that hijacks a reply must copy `reply.getHeaders()` into its own head. */
const STANDING_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const;

/** Bodies are read by the edge's own parsers, so Nest must not bring its. */
class EdgeAdapter extends FastifyAdapter {
  override registerParserMiddleware(): void {}
}

/** The Fastify instance under Nest, speaking the contract's formats also where no controller is reached. */
export function createHttpAdapter(options: HttpAdapterOptions): FastifyAdapter {
  const adapter = new EdgeAdapter({
    bodyLimit: JSON_BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER, ignoreTrailingSlash: true },
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node would answer a missing Host by itself, without our headers; the hook does it instead.
    http: { requireHostHeader: false },
    genReqId: requestId,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      setStandingHeaders(request, reply);
      sendUnrouted(reply, isHostAllowed(options, request.headers.host) ? error : hostRefused());
    },
    clientErrorHandler: answerBrokenRequest,
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  fastify.decorateRequest('principal', null);
  fastify.setReplySerializer(replyJson);
  readBodiesAsJson(fastify);
  guardRequests(fastify, options);
  endConnectionsOnClose(fastify);
  return adapter;
}

/** Only connections that are idle when the server closes end by themselves: one whose answer comes later would keep it up. */
function endConnectionsOnClose(fastify: FastifyInstance): void {
  let isClosing = false;
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done();
  });
}

/** `application/json` and `application/*+json`; any other type is 415. Multipart adds its own parser beside these. */
function readBodiesAsJson(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  for (const type of ['application/json', /^application\/[\w!#$&^.+-]+\+json(?:;|$)/]) {
    fastify.addContentTypeParser(type, { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
      if (isEncoded(request)) return done(new DetailError(415, 'Unsupported content encoding'));
      const body = parseJsonBody(bytes);
      if (body.ok) done(null, body.value);
      else done(unprocessable([body.fault]));
    });
  }
}

/** A compressed body is not unpacked: its size would escape the limit. */
function isEncoded({ headers }: FastifyRequest): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}

/** One synchronous hook per request, before anything of the body is read. */
function guardRequests(fastify: FastifyInstance, policy: OriginPolicy): void {
  const routes = new RouteTable();
  fastify.addHook('onRoute', ({ url, method }) => routes.add(url, method));
  fastify.addHook('onRequest', (request, reply, done) => {
    setStandingHeaders(request, reply);
    const { host } = request.headers;
    // Node takes the first of several, another hop might take the last (RFC 9112 3.2).
    if (hostCount(request) > 1) return done(hostRepeated());
    if (!isHostAllowed(policy, host)) return done(hostRefused());
    if (host === undefined && request.raw.httpVersion === '1.1') return done(hostMissing());
    if (request.is404) return answerUnrouted(routes, request, reply, done);
    if (!isSafeMethod(request.method) && !isOriginAllowed(policy, request.headers.origin)) {
      return done(new DetailError(403, 'Origin not allowed'));
    }
    done();
  });
}

/** 405 where the path exists under other methods, a plain OPTIONS answer, else 404. */
function answerUnrouted(
  routes: RouteTable,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const methods = routes.methodsOf(request.url.split('?', 1)[0] ?? '');
  if (methods.length === 0) return done(notFound());
  const allow = [...new Set([...methods, 'OPTIONS'])].join(', ');
  if (request.method !== 'OPTIONS') return done(new DetailError(405, 'Method Not Allowed', { allow }));
  void reply.code(204).header('allow', allow).send();
}

function setStandingHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id).headers(STANDING_HEADERS);
}

function sendUnrouted(reply: FastifyReply, error: unknown): void {
  const answer = answerFor(error);
  void reply.code(answer.status).headers(answer.headers).send(answer.body);
}

function hostRefused(): DetailError {
  return new DetailError(403, 'Host not allowed: without authentication only loopback names are served');
}

function hostCount({ raw }: FastifyRequest): number {
  return raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
}

function hostRepeated(): ApiError {
  return new ApiError('invalid_input', 'The Host header is repeated.');
}

function hostMissing(): ApiError {
  return new ApiError('invalid_input', 'The Host header is missing.');
}

function requestId(): string {
  return randomUUID().replaceAll('-', '');
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Bytes that are no HTTP request never reach Fastify's replies. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const body = replyJson({ error: { code: 'invalid_input', message: 'The request is not valid HTTP.' } });
  const head = [
    `HTTP/1.1 ${STATUS_LINES[error.code ?? ''] ?? '400 Bad Request'}`,
    `x-request-id: ${requestId()}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
