import { LENGTH_DELIMITED, VARINT } from './wire-reader.js';

/** Bytes that the varint of a value takes, for values up to 2^53. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
  return length;
}

/** Writes the varint of a value up to 2^53 at `offset` and answers the offset behind it. */
export function writeVarint(target: Buffer, value: number, offset: number): number {
  let rest = value;
  let at = offset;
  while (rest >= 0x80) {
    target[at] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
    at += 1;
  }
  target[at] = rest;
  return at + 1;
}

/** Builds one protobuf message field by field. */
export class WireWriter {
  private buffer: Buffer;
  private offset = 0;

  constructor(expectedSize = 64) {
    this.buffer = Buffer.allocUnsafe(expectedSize);
  }

  varint(field: number, value: bigint | number): this {
    this.reserve(20);
    this.rawVarint(field * 8 + VARINT);
    if (typeof value === 'number' || (value >= 0n && value <= Number.MAX_SAFE_INTEGER)) {
      this.rawVarint(Number(value));
      return this;
    }
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.buffer[this.offset++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.buffer[this.offset++] = Number(rest);
    return this;
  }

  bool(field: number, value: boolean): this {
    return this.varint(field, value ? 1 : 0);
  }

  bytes(field: number, value: Uint8Array): this {
    this.reserve(20 + value.length);
    this.rawVarint(field * 8 + LENGTH_DELIMITED);
    this.rawVarint(value.length);
    this.buffer.set(value, this.offset);
    this.offset += value.length;
    return this;
  }

  string(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'));
  }

  message(field: number, build: (nested: WireWriter) => void): this {
    const nested = new WireWriter();
    build(nested);
    return this.bytes(field, nested.finish());
  }

  /** A field holding `google.protobuf.Empty` or `event_store.client.Empty`. */
  empty(field: number): this {
    this.reserve(12);
    this.rawVarint(field * 8 + LENGTH_DELIMITED);
    this.rawVarint(0);
    return this;
  }

  finish(): Buffer {
    return this.buffer.subarray(0, this.offset);
  }

  private rawVarint(value: number): void {
    this.offset = writeVarint(this.buffer, value, this.offset);
  }

  private reserve(bytes: number): void {
    if (this.offset + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.offset + bytes));
    this.buffer.copy(grown, 0, 0, this.offset);
    this.buffer = grown;
  }
}
