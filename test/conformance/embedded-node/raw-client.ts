import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { connect as connectSocket } from 'node:net';

/** What a raw call ended with. `status` is the gRPC status, undefined when the node answered none. */
export interface RawAnswer {
  readonly status: number | undefined;
  readonly message: string;
  readonly httpStatus: number | undefined;
  readonly body: Buffer;
}

export const STREAMS = '/event_store.client.streams.Streams';

/** Speaks HTTP/2 to the node without any gRPC library, so that it can say what no library would. */
export class RawClient {
  private readonly session: ClientHttp2Session;

  /** On a connection of its own to a port of this machine, or on one that is there. */
  constructor(to: number | ClientHttp2Session) {
    this.session = typeof to === 'number' ? connect(`http://127.0.0.1:${to}`) : to;
    this.session.on('error', () => undefined);
  }

  open(path: string, headers: Record<string, string> = {}): ClientHttp2Stream {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    stream.on('error', () => undefined);
    return stream;
  }

  /** Sends the bytes, ends the request, and waits for the end of the answer. */
  async call(path: string, bytes: Buffer, headers: Record<string, string> = {}): Promise<RawAnswer> {
    const stream = this.open(path, headers);
    const answer = readAnswer(stream);
    stream.end(bytes);
    return answer;
  }

  close(): void {
    this.session.destroy();
  }
}

export function readAnswer(stream: ClientHttp2Stream): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  let status: number | undefined;
  let message = '';
  let httpStatus: number | undefined;
  const note = (headers: Record<string, unknown>): void => {
    if (typeof headers['grpc-status'] === 'string') status = Number(headers['grpc-status']);
    if (typeof headers['grpc-message'] === 'string') message = decodeURIComponent(headers['grpc-message']);
    if (typeof headers[':status'] === 'number') httpStatus = headers[':status'];
  };
  stream.on('response', note);
  stream.on('trailers', note);
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((settle) => {
    stream.once('close', () => settle({ status, message, httpStatus, body: Buffer.concat(chunks) }));
  });
}

/** Hands over each message of an answer as it comes. */
export function onMessage(stream: ClientHttp2Stream, handle: (message: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      handle(rest.subarray(5, end));
      rest = rest.subarray(end);
    }
  });
}

export function grpcFrame(message: Buffer, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** One length-delimited protobuf field with a number below 16 and fewer than 16,384 bytes. */
export function field(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const length =
    bytes.length < 128 ? Buffer.of(bytes.length) : Buffer.of((bytes.length & 0x7f) | 0x80, bytes.length >> 7);
  return Buffer.concat([Buffer.of(number * 8 + 2), length, bytes]);
}

export function rawSocket(port: number): Promise<Socket> {
  return new Promise((settle, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => settle(socket));
    socket.once('error', reject);
  });
}
