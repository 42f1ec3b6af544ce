import { GrpcError, Status } from '../protocol/grpc-error.js';

const HEADER = 5;
/** Longest request message: the clients' own limit for messages they receive. */
export const LONGEST_MESSAGE = 17 * 1024 * 1024;

/** Cuts a byte stream into gRPC messages. Holds at most one unfinished message. */
export class FrameDecoder {
  private chunks: Buffer[] = [];
  private buffered = 0;
  private needed = HEADER;

  constructor(private readonly longest = LONGEST_MESSAGE) {}

  /** True when the stream may end here without cutting a message. */
  get betweenMessages(): boolean {
    return this.buffered === 0;
  }

  /** Hands every message that the chunk completes to `receive`, as views where possible. */
  push(chunk: Buffer, receive: (message: Buffer) => void): void {
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    // Joining only when a message is complete keeps a long message in many chunks linear.
    if (this.buffered < this.needed) return;
    let bytes = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks, this.buffered);
    for (;;) {
      this.needed = this.lengthOf(bytes);
      if (bytes.length < this.needed || bytes.length < HEADER) break;
      receive(bytes.subarray(HEADER, this.needed));
      bytes = bytes.subarray(this.needed);
    }
    this.chunks = bytes.length === 0 ? [] : [bytes];
    this.buffered = bytes.length;
  }

  private lengthOf(bytes: Buffer): number {
    if (bytes.length < HEADER) return HEADER;
    if (bytes[0] !== 0) {
      throw new GrpcError(Status.UNIMPLEMENTED, 'Compressed messages are not supported by this node.');
    }
    const length = bytes.readUInt32BE(1);
    if (length > this.longest) {
      throw new GrpcError(
        Status.RESOURCE_EXHAUSTED,
        `A message of ${length} bytes is longer than the limit of ${this.longest}.`,
      );
    }
    return HEADER + length;
  }
}

/** One message as a gRPC frame. */
export function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(HEADER + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, HEADER);
  return framed;
}
