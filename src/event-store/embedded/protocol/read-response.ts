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
  private readonly entries: (ReadEvent | Buffer)[] = [];
  private size = 0;

  get bytes(): number {
    return this.size;
  }

  addEvent(read: ReadEvent): void {
    this.entries.push(read);
    const inner = eventLength(read);
    this.size += FRAME_HEADER + 1 + varintLength(inner) + inner;
  }

  addMessage(message: Buffer): void {
    this.entries.push(message);
    this.size += FRAME_HEADER + message.length;
  }

  /** All frames so far as one buffer, into which each record is copied once; the batch is empty afterwards. */
  take(): Buffer {
    const target = Buffer.allocUnsafe(this.size);
    let at = 0;
    for (const entry of this.entries) {
      at = Buffer.isBuffer(entry) ? writeMessage(target, entry, at) : writeEvent(target, entry, at);
    }
    this.entries.length = 0;
    this.size = 0;
    return target;
  }
}

function eventLength(read: ReadEvent): number {
  return fieldLength(read.event) + fieldLength(read.link) + 1 + varintLength(Number(read.position));
}

function writeHeader(target: Buffer, length: number, offset: number): number {
  target[offset] = 0;
  target.writeUInt32BE(length, offset + 1);
  return offset + FRAME_HEADER;
}

function writeMessage(target: Buffer, message: Buffer, offset: number): number {
  const at = writeHeader(target, message.length, offset);
  target.set(message, at);
  return at + message.length;
}

/** `ReadResp { event: ReadEvent { event, link, commit_position } }`. */
function writeEvent(target: Buffer, read: ReadEvent, offset: number): number {
  const inner = eventLength(read);
  let at = writeHeader(target, 1 + varintLength(inner) + inner, offset);
  target[at] = EVENT_TAG;
  at = writeVarint(target, inner, at + 1);
  at = writeField(target, EVENT_TAG, read.event, at);
  at = writeField(target, LINK_TAG, read.link, at);
  target[at] = COMMIT_POSITION_TAG;
  return writeVarint(target, Number(read.position), at + 1);
}

function writeField(target: Buffer, tag: number, value: Buffer | undefined, offset: number): number {
  if (value === undefined) return offset;
  target[offset] = tag;
  const at = writeVarint(target, value.length, offset + 1);
  target.set(value, at);
  return at + value.length;
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
