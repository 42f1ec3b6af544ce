/** Bytes that are not a well-formed protobuf message. */
export class WireFormatError extends Error {}

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
export const FIXED32 = 5;

/**
 * Walks the fields of one protobuf message without copying: `bytes` answers views into the message.
 * `nextTag` is 0 at the end; every value method checks the wire type that the tag announced.
 */
export class WireReader {
  private offset = 0;

  constructor(private readonly message: Buffer) {}

  nextTag(): number {
    if (this.offset >= this.message.length) return 0;
    const tag = Number(this.varint());
    if (tag < 8 || tag > 0xffffffff) throw new WireFormatError('field number out of range');
    return tag;
  }

  uint64(tag: number): bigint {
    this.expect(tag, VARINT);
    return this.varint();
  }

  int64(tag: number): bigint {
    return BigInt.asIntN(64, this.uint64(tag));
  }

  uint32(tag: number): number {
    return Number(BigInt.asUintN(32, this.uint64(tag)));
  }

  bool(tag: number): boolean {
    return this.uint64(tag) !== 0n;
  }

  bytes(tag: number): Buffer {
    this.expect(tag, LENGTH_DELIMITED);
    return this.take(Number(this.varint()));
  }

  string(tag: number): string {
    return this.bytes(tag).toString('utf8');
  }

  skip(tag: number): void {
    switch (tag & 7) {
      case VARINT:
        this.varint();
        return;
      case FIXED64:
        this.take(8);
        return;
      case LENGTH_DELIMITED:
        this.take(Number(this.varint()));
        return;
      case FIXED32:
        this.take(4);
        return;
      default:
        throw new WireFormatError(`wire type ${tag & 7} is not supported`);
    }
  }

  private expect(tag: number, wireType: number): void {
    if ((tag & 7) !== wireType) {
      throw new WireFormatError(`field ${tag >>> 3} has wire type ${tag & 7}, expected ${wireType}`);
    }
  }

  private take(length: number): Buffer {
    const end = this.offset + length;
    if (end > this.message.length) throw new WireFormatError('message ends inside a field');
    const view = this.message.subarray(this.offset, end);
    this.offset = end;
    return view;
  }

  private varint(): bigint {
    // Most varints fit 28 bits, and number arithmetic is far cheaper than bigint arithmetic.
    let small = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      small |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt(small);
    }
    let large = BigInt(small);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      large |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, large);
    }
    throw new WireFormatError('varint longer than ten bytes');
  }

  private byte(): number {
    const byte = this.message[this.offset];
    if (byte === undefined) throw new WireFormatError('message ends inside a varint');
    this.offset += 1;
    return byte;
  }
}
