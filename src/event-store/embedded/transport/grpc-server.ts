import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { GrpcError, Status } from '../protocol/grpc-error.js';
import { DamagedLogError } from '../storage/checksum.js';
import { asDamage } from '../storage/log-verification.js';
import { WireFormatError } from '../wire/wire-reader.js';
import { GrpcCall } from './grpc-call.js';

export type CallHandler = (call: GrpcCall) => Promise<void>;
/** Handlers by path, `/package.Service/Method`. */
export type Routes = ReadonlyMap<string, CallHandler>;

export interface GrpcServerOptions {
  readonly routes: Routes;
  /** What to answer for a path that has no handler. */
  readonly unknownMethod: (path: string) => GrpcError;
  /** Told of errors that no client caused. */
  readonly onFault: (error: unknown) => void;
}

/** Only this machine: the protocol carries no credentials here. */
const HOST = '127.0.0.1';
const WINDOW = 1024 * 1024;
const SESSION_MEMORY_MIB = 64;
/** How long streams may take to carry their last trailers before they are reset. */
const GRACE_MS = 250;

/** A plain-text HTTP/2 server for gRPC calls. */
export class GrpcServer {
  private readonly server: Http2Server;
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new Set<ServerHttp2Session>();
  private readonly calls = new Set<GrpcCall>();
  private closing = false;

  constructor(private readonly options: GrpcServerOptions) {
    this.server = createServer({
      maxSessionMemory: SESSION_MEMORY_MIB,
      settings: { initialWindowSize: WINDOW, maxConcurrentStreams: 10_000 },
    });
    this.server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.server.on('session', (session) => this.admit(session));
    this.server.on('stream', (stream, headers) => this.open(stream, headers));
    // A peer that does not speak HTTP/2: its session is destroyed, nobody else is concerned.
    this.server.on('sessionError', () => undefined);
  }

  /** Answers the port. Rejects with `EADDRINUSE` when it is taken. */
  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, HOST, () => {
        this.server.off('error', reject);
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  /** Ends every call with UNAVAILABLE, so that clients reconnect, then every connection. */
  async close(): Promise<void> {
    this.closing = true;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const unavailable = new GrpcError(Status.UNAVAILABLE, 'The node is shutting down.');
    for (const call of this.calls) call.fail(unavailable);
    for (const session of this.sessions) session.close();
    const cut = setTimeout(() => this.cut(), GRACE_MS);
    // A closed session, even a destroyed one, waits for its peer to close too, and a suspended one never does.
    const drop = setTimeout(() => this.sockets.forEach((socket) => socket.destroy()), 2 * GRACE_MS);
    await closed;
    clearTimeout(cut);
    clearTimeout(drop);
  }

  private cut(): void {
    for (const call of this.calls) call.refuse();
    setImmediate(() => {
      for (const session of this.sessions) session.destroy();
    });
  }

  private admit(session: ServerHttp2Session): void {
    if (this.closing) return session.destroy();
    this.sessions.add(session);
    session.setLocalWindowSize(4 * WINDOW);
    session.on('error', () => undefined);
    session.once('close', () => this.sessions.delete(session));
  }

  private open(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const path = headers[':path'] ?? '';
    const call = new GrpcCall(stream, path);
    if (headers[':method'] !== 'POST' || headers['content-type']?.startsWith('application/grpc') !== true) {
      stream.respond({ ':status': 415 }, { endStream: true });
      return;
    }
    this.calls.add(call);
    call.closed.addEventListener('abort', () => this.calls.delete(call), { once: true });
    const handler = this.options.routes.get(path);
    if (this.closing) call.fail(new GrpcError(Status.UNAVAILABLE, 'The node is shutting down.'));
    else if (handler === undefined) call.fail(this.options.unknownMethod(path));
    else handler(call).catch((error: unknown) => call.fail(this.explain(error)));
  }

  private explain(thrown: unknown): GrpcError {
    const error = asDamage(thrown, 'the storage that a call needed');
    if (error instanceof GrpcError) return error;
    if (error instanceof WireFormatError) {
      return new GrpcError(Status.INVALID_ARGUMENT, `The request is not valid protobuf: ${error.message}.`);
    }
    this.options.onFault(error);
    const message = error instanceof Error ? error.message : String(error);
    return new GrpcError(error instanceof DamagedLogError ? Status.DATA_LOSS : Status.INTERNAL, message);
  }
}
