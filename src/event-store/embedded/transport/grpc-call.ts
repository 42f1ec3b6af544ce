import type { ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { GrpcError, Status, encodePercent } from '../protocol/grpc-error.js';
import { FrameDecoder, frame } from './frame-decoder.js';

/** How long a client may take to notice that its call was answered before it had sent everything. */
const REQUEST_GRACE_MS = 2_000;
const RESPONSE_HEADERS = { ':status': 200, 'content-type': 'application/grpc' };

/** One gRPC call on an HTTP/2 stream. It ends once, with `end` or `fail`. */
export class GrpcCall {
  private readonly gone = new AbortController();
  private ended = false;

  constructor(
    private readonly stream: ServerHttp2Stream,
    readonly path: string,
  ) {
    // Resets and cut connections surface as errors; `close` always follows and is what counts.
    stream.on('error', () => undefined);
    stream.once('close', () => this.gone.abort());
  }

  /** Aborted when the client or the node has ended the call. */
  get closed(): AbortSignal {
    return this.gone.signal;
  }

  /** Hands over each message as it is complete; resolves when the client has sent its last. */
  receive(handle: (message: Buffer) => void): Promise<void> {
    const decoder = new FrameDecoder();
    return new Promise((resolve, reject) => {
      const stop = (error: unknown): void => {
        this.stream.removeAllListeners('data');
        this.stream.resume();
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      this.stream.on('data', (chunk: Buffer) => {
        try {
          decoder.push(chunk, handle);
        } catch (error) {
          stop(error);
        }
      });
      this.stream.once('end', () => {
        if (decoder.betweenMessages) resolve();
        else stop(new GrpcError(Status.INVALID_ARGUMENT, 'The request ends inside a message.'));
      });
      this.stream.once('close', () => stop(new GrpcError(Status.CANCELLED, 'The call was cancelled.')));
    });
  }

  /** The request of a unary or server-streaming call. */
  async receiveOne(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.receive(resolve).then(
        () => reject(new GrpcError(Status.INVALID_ARGUMENT, 'The request message is missing.')),
        reject,
      );
    });
  }

  /** Stops reading requests until `resumeInput`: HTTP/2 then stops the sender. */
  pauseInput(): void {
    this.stream.pause();
  }

  resumeInput(): void {
    this.stream.resume();
  }

  /**
   * Queues response frames. Answers undefined when the connection takes more at once, else a promise that
   * resolves when it does, or when the call is over.
   */
  write(frames: Buffer): Promise<void> | undefined {
    if (this.ended || this.stream.destroyed) return undefined;
    this.start();
    if (this.stream.write(frames)) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        this.stream.off('drain', done);
        this.stream.off('close', done);
        resolve();
      };
      this.stream.on('drain', done);
      this.stream.on('close', done);
    });
  }

  /** Ends the call with status OK, after a last message if there is one. */
  end(message?: Buffer): void {
    if (message !== undefined) void this.write(frame(message));
    this.finish({ 'grpc-status': String(Status.OK) });
  }

  fail(error: GrpcError): void {
    this.finish({
      ...error.trailers,
      'grpc-status': String(error.status),
      'grpc-message': encodePercent(error.message),
    });
  }

  /** For a peer that takes no more bytes, so that trailers cannot reach it: clients read this as UNAVAILABLE. */
  refuse(): void {
    if (!this.stream.closed) this.stream.close(constants.NGHTTP2_REFUSED_STREAM);
  }

  private start(): void {
    if (!this.stream.headersSent) this.stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
  }

  private finish(trailers: Record<string, string>): void {
    if (this.ended || this.stream.destroyed) return;
    this.ended = true;
    if (this.stream.headersSent) {
      this.stream.once('wantTrailers', () => this.stream.sendTrailers(trailers));
      this.stream.end();
    } else {
      this.stream.respond({ ...RESPONSE_HEADERS, ...trailers }, { endStream: true });
    }
    this.forgetRequest();
  }

  /**
   * A request that is still being sent is no longer wanted. Not at once: a reset overtakes trailers that wait
   * in the connection's queue, and the client would be left without a status.
   */
  private forgetRequest(): void {
    const timer = setTimeout(() => {
      if (!this.stream.readableEnded) this.stream.close(constants.NGHTTP2_NO_ERROR);
    }, REQUEST_GRACE_MS);
    timer.unref();
    this.stream.once('close', () => clearTimeout(timer));
  }
}
