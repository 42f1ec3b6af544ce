import { WireFormatError, WireReader } from './wire-reader.js';
import { WireWriter } from './wire-writer.js';

const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const EMPTY_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * The text of an `event_store.client.UUID`, which comes as text or as two 64-bit halves.
 * Answers undefined when it is no UUID: the caller knows which error that is.
 */
export function decodeUuid(message: Buffer): string | undefined {
  const reader = new WireReader(message);
  let text: string | undefined;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        text = decodeStructured(reader.bytes(tag));
        break;
      case 2:
        text = reader.string(tag).toLowerCase();
        break;
      default:
        reader.skip(tag);
    }
  }
  return text !== undefined && UUID_TEXT.test(text) ? text : undefined;
}

export function encodeUuid(text: string): Buffer {
  return new WireWriter(48).string(2, text).finish();
}

export function encodeStructuredUuid(text: string): Buffer {
  const hex = text.replaceAll('-', '');
  if (hex.length !== 32) throw new WireFormatError('a UUID has 32 hexadecimal digits');
  const most = BigInt.asIntN(64, BigInt(`0x${hex.slice(0, 16)}`));
  const least = BigInt.asIntN(64, BigInt(`0x${hex.slice(16)}`));
  return new WireWriter(48).message(1, (structured) => structured.varint(1, most).varint(2, least)).finish();
}

function decodeStructured(message: Buffer): string {
  const reader = new WireReader(message);
  let most = 0n;
  let least = 0n;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        most = reader.uint64(tag);
        break;
      case 2:
        least = reader.uint64(tag);
        break;
      default:
        reader.skip(tag);
    }
  }
  const hex = most.toString(16).padStart(16, '0') + least.toString(16).padStart(16, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
