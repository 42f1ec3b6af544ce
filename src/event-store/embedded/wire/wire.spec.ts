import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeUuid, encodeStructuredUuid, encodeUuid } from './uuid-message.js';
import { WireFormatError, WireReader } from './wire-reader.js';
import { WireWriter, varintLength, writeVarint } from './wire-writer.js';

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe('the wire codec', () => {
  it('reads every unsigned 64-bit integer that it wrote', () => {
    fc.assert(
      fc.property(uint64, fc.integer({ min: 1, max: 1_000 }), (value, number) => {
        const reader = new WireReader(new WireWriter().varint(number, value).finish());
        const tag = reader.nextTag();
        expect(tag >>> 3).toBe(number);
        expect(reader.uint64(tag)).toBe(value);
        expect(reader.nextTag()).toBe(0);
      }),
    );
  });

  it('reads every signed 64-bit integer that it wrote', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const reader = new WireReader(new WireWriter().varint(1, value).finish());
        expect(reader.int64(reader.nextTag())).toBe(value);
      }),
    );
  });

  it('reads bytes and text of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.string({ unit: 'grapheme' }), (bytes, text) => {
        const reader = new WireReader(new WireWriter(1).bytes(1, bytes).string(2, text).empty(3).finish());
        expect([...reader.bytes(reader.nextTag())]).toEqual([...bytes]);
        expect(reader.string(reader.nextTag())).toBe(text);
        expect(reader.bytes(reader.nextTag())).toHaveLength(0);
      }),
    );
  });

  it('knows the length of a varint before it writes it', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(writeVarint(Buffer.alloc(10), value, 0)).toBe(varintLength(value));
      }),
    );
  });

  it('skips fields that it does not know', () => {
    const message = Buffer.concat([
      new WireWriter().varint(9, 300).bytes(10, Buffer.from('x')).finish(),
      Buffer.of(11 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8, 12 * 8 + 5, 1, 2, 3, 4),
      new WireWriter().varint(1, 7).finish(),
    ]);
    const reader = new WireReader(message);
    const known: bigint[] = [];
    for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
      if (tag >>> 3 === 1) known.push(reader.uint64(tag));
      else reader.skip(tag);
    }
    expect(known).toEqual([7n]);
  });

  it('answers any bytes with fields or with a WireFormatError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const reader = new WireReader(Buffer.from(bytes));
        let thrown: unknown = new WireFormatError('nothing');
        try {
          for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) reader.skip(tag);
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toBeInstanceOf(WireFormatError);
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses a field of another wire type than asked for', () => {
    const reader = new WireReader(new WireWriter().varint(1, 1).finish());
    expect(() => reader.bytes(reader.nextTag())).toThrow('field 1 has wire type 0, expected 2');
  });
});

describe('a UUID', () => {
  it('is the same as text and as two numbers', () => {
    fc.assert(
      fc.property(fc.uuid(), (text) => {
        expect(decodeUuid(encodeUuid(text))).toBe(text);
        expect(decodeUuid(encodeStructuredUuid(text))).toBe(text);
      }),
    );
  });

  it('is read from upper case', () => {
    expect(decodeUuid(encodeUuid('7B5F3E62-3D0F-4F3D-9A52-0C6F0F6D5D11'))).toBe(
      '7b5f3e62-3d0f-4f3d-9a52-0c6f0f6d5d11',
    );
  });

  it.each(['', 'x', '7b5f3e623d0f4f3d9a520c6f0f6d5d11', '{7b5f3e62-3d0f-4f3d-9a52-0c6f0f6d5d11}'])(
    'is not %j',
    (text) => {
      expect(decodeUuid(encodeUuid(text))).toBeUndefined();
    },
  );
});
