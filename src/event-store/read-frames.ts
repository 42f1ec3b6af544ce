import type { Position } from './position.js';
import type { RawEvent } from './recorded-event.js';

/** What a subscription says, one message at a time. */
export type ReadFrame =
  | { readonly kind: 'event'; readonly raw: RawEvent }
  | { readonly kind: 'checkpoint'; readonly position: Position }
  | { readonly kind: 'caught-up' }
  /** Says nothing that a follower of the log needs. */
  | { readonly kind: 'other' };

const OTHER: ReadFrame = { kind: 'other' };
const CAUGHT_UP: ReadFrame = { kind: 'caught-up' };
const JSON_CONTENT = 'application/json';
const LENGTH_DELIMITED = 2;
const TICKS_DIGITS = 4;
const MOST_VARINT_BYTES = 10;

/**
 * Reads `event_store.client.streams.ReadResp`. The client's own reading of it makes some forty objects of an event and
 * takes half of the time in which a log can be followed. Throws `RangeError` on bytes that are no such message.
 */
export function decodeReadFrame(message: Buffer): ReadFrame {
  const cursor = new Cursor(message);
  let frame = OTHER;
  while (cursor.next(message.length)) {
    switch (cursor.field) {
      case 1:
        frame = readEvent(cursor, cursor.lengthEnd());
        break;
      case 3:
        frame = { kind: 'checkpoint', position: commitPosition(cursor, cursor.lengthEnd()) };
        break;
      case 8:
        frame = CAUGHT_UP;
        cursor.skip();
        break;
      default:
        cursor.skip();
    }
  }
  return frame;
}

function readEvent(cursor: Cursor, end: number): ReadFrame {
  let raw: RawEvent | null = null;
  let position: Position | null = null;
  while (cursor.next(end)) {
    if (cursor.field === 1) raw = recordedEvent(cursor, cursor.lengthEnd());
    else if (cursor.field === 3) position = cursor.bigint();
    else cursor.skip();
  }
  if (raw === null) return OTHER;
  return { kind: 'event', raw: raw.position >= 0n || position === null ? raw : { ...raw, position } };
}

function recordedEvent(cursor: Cursor, end: number): RawEvent {
  let [id, stream, type, contentType] = ['', '', '', ''];
  let [revision, position] = [0n, -1n];
  let recordedAt = 0;
  let [metadataFrom, metadataTo, dataFrom, dataTo] = [0, 0, 0, 0];
  while (cursor.next(end)) {
    switch (cursor.field) {
      case 1:
        id = uuid(cursor, cursor.lengthEnd());
        break;
      case 2:
        stream = streamName(cursor, cursor.lengthEnd());
        break;
      case 3:
        revision = cursor.bigint();
        break;
      case 5:
        position = cursor.bigint();
        break;
      case 6: {
        const [key, value] = mapEntry(cursor, cursor.lengthEnd());
        if (key === 'type') type = value;
        else if (key === 'content-type') contentType = value;
        else if (key === 'created') recordedAt = milliseconds(value);
        break;
      }
      case 7:
        metadataTo = cursor.lengthEnd();
        metadataFrom = cursor.at;
        cursor.at = metadataTo;
        break;
      case 8:
        dataTo = cursor.lengthEnd();
        dataFrom = cursor.at;
        cursor.at = dataTo;
        break;
      default:
        cursor.skip();
    }
  }
  const { message } = cursor;
  return {
    id,
    type,
    stream,
    revision,
    position,
    recordedAt,
    data:
      contentType === JSON_CONTENT
        ? json(message.toString('utf8', dataFrom, dataTo))
        : new Uint8Array(message.subarray(dataFrom, dataTo)),
    metadata:
      metadataFrom === metadataTo ? undefined : json(message.toString('utf8', metadataFrom, metadataTo)),
  };
}

/** What is no JSON although it says so is handed on as its text. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `created` counts units of 100 ns since the Unix epoch. */
function milliseconds(ticks: string): number {
  const whole = Number(ticks.slice(0, -TICKS_DIGITS));
  return Number.isNaN(whole) ? 0 : whole;
}

function commitPosition(cursor: Cursor, end: number): Position {
  let position = 0n;
  while (cursor.next(end)) {
    if (cursor.field === 1) position = cursor.bigint();
    else cursor.skip();
  }
  return position;
}

function streamName(cursor: Cursor, end: number): string {
  let name = '';
  while (cursor.next(end)) {
    if (cursor.field === 3) name = cursor.text();
    else cursor.skip();
  }
  return name;
}

function mapEntry(cursor: Cursor, end: number): readonly [key: string, value: string] {
  let [key, value] = ['', ''];
  while (cursor.next(end)) {
    if (cursor.field === 1) key = cursor.text();
    else if (cursor.field === 2) value = cursor.text();
    else cursor.skip();
  }
  return [key, value];
}

/** It was asked for as text. */
function uuid(cursor: Cursor, end: number): string {
  let id = '';
  while (cursor.next(end)) {
    if (cursor.field === 2) id = cursor.text();
    else cursor.skip();
  }
  if (id === '') throw new RangeError('an event without an id as text');
  return id;
}

/** A place in a protobuf message; fields are read where they lie, without a view for each. */
class Cursor {
  at = 0;
  field = 0;
  private wireType = 0;

  constructor(readonly message: Buffer) {}

  /** False at the end; else at the value of the next field. */
  next(end: number): boolean {
    if (this.at >= end) {
      if (this.at > end) throw new RangeError('a field goes beyond its message');
      return false;
    }
    const tag = this.number();
    this.field = tag >>> 3;
    this.wireType = tag & 7;
    return true;
  }

  /** Where the value ends; the cursor is at its beginning. */
  lengthEnd(): number {
    if (this.wireType !== LENGTH_DELIMITED) throw new RangeError(`field ${this.field} has no length`);
    const length = this.number();
    const end = this.at + length;
    if (end > this.message.length) throw new RangeError('a field goes beyond its message');
    return end;
  }

  text(): string {
    const end = this.lengthEnd();
    const text = this.message.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }

  /** 64 bits, unsigned: a tombstone has the last revision that there is. */
  bigint(): bigint {
    const from = this.at;
    const value = this.number();
    return value <= Number.MAX_SAFE_INTEGER ? BigInt(value) : this.exact(from);
  }

  skip(): void {
    switch (this.wireType) {
      case 0:
        this.number();
        return;
      case 1:
        this.at += 8;
        return;
      case LENGTH_DELIMITED:
        this.at = this.lengthEnd();
        return;
      case 5:
        this.at += 4;
        return;
      default:
        throw new RangeError(`wire type ${this.wireType} is unknown`);
    }
  }

  /** A varint; rounded beyond 2^53. */
  private number(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < MOST_VARINT_BYTES; count += 1) {
      const byte = this.message[this.at];
      if (byte === undefined) throw new RangeError('the message ends inside a number');
      this.at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new RangeError('a number of more than ten bytes');
  }

  private exact(from: number): bigint {
    let value = 0n;
    for (let at = this.at - 1; at >= from; at -= 1)
      value = (value << 7n) | BigInt((this.message[at] ?? 0) & 0x7f);
    return BigInt.asUintN(64, value);
  }
}
