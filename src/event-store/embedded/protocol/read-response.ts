import { WireWriter, varintLength, writeVarint } from '../wire/wire-writer.js';

/** One event as a reader gets it. With link resolution `event` may be missing and `link` present. */
export interface ReadEvent {
  readonly event: Buffer | undefined;
  readonly link: Buffer | undefined;
  readonly position: bigint;
}

const FRAME_HEADER = 5;
// Tags of one byte each: field * 8 + wire type.
const EVENT_TAG = 0x0a;
const LINK_TAG = 0x12;
const COMMIT_POSITION_TAG = 0x18;

/** Collects response messages as gRPC frames, so that many of them go to the socket in one write. */
export class FrameBatch {
  private readonly pieces: Buffer[] = [];
  private size = 0;

  get bytes(): number {
    return this.size;
  }

  addEvent(read: ReadEvent): void {
    const position = Number(read.position);
    const inner = fieldLength(read.event) + fieldLength(read.link) + 1 + varintLength(position);
    const message = 1 + varintLength(inner) + inner;
    // Header and record are separate pieces: the record is copied once only, into the final buffer.
    const head = Buffer.allocUnsafe(FRAME_HEADER + 2 + varintLength(inner));
    head[0] = 0;
    head.writeUInt32BE(message, 1);
    head[FRAME_HEADER] = EVENT_TAG;
    this.push(head.subarray(0, writeVarint(head, inner, FRAME_HEADER + 1)));
    this.pushField(EVENT_TAG, read.event);
    this.pushField(LINK_TAG, read.link);
    const tail = Buffer.allocUnsafe(1 + varintLength(position));
    tail[0] = COMMIT_POSITION_TAG;
    writeVarint(tail, position, 1);
    this.push(tail);
  }

  addMessage(message: Buffer): void {
    const head = Buffer.allocUnsafe(FRAME_HEADER);
    head[0] = 0;
    head.writeUInt32BE(message.length, 1);
    this.push(head);
    this.push(message);
  }

  /** All frames so far as one buffer; the batch is empty afterwards. */
  take(): Buffer {
    const joined = Buffer.concat(this.pieces, this.size);
    this.pieces.length = 0;
    this.size = 0;
    return joined;
  }

  private pushField(tag: number, value: Buffer | undefined): void {
    if (value === undefined) return;
    const head = Buffer.allocUnsafe(1 + varintLength(value.length));
    head[0] = tag;
    writeVarint(head, value.length, 1);
    this.push(head);
    this.push(value);
  }

  private push(piece: Buffer): void {
    this.pieces.push(piece);
    this.size += piece.length;
  }
}

function fieldLength(value: Buffer | undefined): number {
  return value === undefined ? 0 : 1 + varintLength(value.length) + value.length;
}

export function encodeConfirmation(subscriptionId: string): Buffer {
  return new WireWriter().message(2, (confirmation) => confirmation.string(1, subscriptionId)).finish();
}

export function encodeCheckpoint(position: bigint): Buffer {
  return new WireWriter().message(3, (place) => place.varint(1, position).varint(2, position)).finish();
}

export function encodeStreamNotFound(stream: Buffer): Buffer {
  return new WireWriter(64 + stream.length)
    .message(4, (missing) => missing.message(1, (identifier) => identifier.bytes(3, stream)))
    .finish();
}

export function encodeCaughtUp(): Buffer {
  return new WireWriter(8).empty(8).finish();
}
