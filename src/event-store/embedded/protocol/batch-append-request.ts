import { WireReader } from '../wire/wire-reader.js';

/** One chunk of a batch. Options come with the first chunk of a correlation id only. */
export interface BatchChunk {
  readonly correlationId: Buffer;
  readonly options: Buffer | undefined;
  readonly proposedMessages: readonly Buffer[];
  readonly isFinal: boolean;
}

export function decodeBatchChunk(message: Buffer): BatchChunk {
  const reader = new WireReader(message);
  let correlationId: Buffer = Buffer.alloc(0);
  let options: Buffer | undefined;
  let isFinal = false;
  const proposedMessages: Buffer[] = [];
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        correlationId = reader.bytes(tag);
        break;
      case 2:
        options = reader.bytes(tag);
        break;
      case 3:
        proposedMessages.push(reader.bytes(tag));
        break;
      case 4:
        isFinal = reader.bool(tag);
        break;
      default:
        reader.skip(tag);
    }
  }
  return { correlationId, options, proposedMessages, isFinal };
}

/**
 * The instant, in milliseconds, by which the batch must be written: field 6 is a Timestamp, field 7 a
 * Duration from now. Undefined when the client set none.
 */
export function decodeDeadline(options: Buffer, now: number): number | undefined {
  const reader = new WireReader(options);
  let deadline: number | undefined;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 6:
        deadline = decodeSeconds(reader.bytes(tag));
        break;
      case 7:
        deadline = now + decodeSeconds(reader.bytes(tag));
        break;
      default:
        reader.skip(tag);
    }
  }
  return deadline;
}

/** Timestamp and Duration are both seconds (1) and nanoseconds (2); answered in milliseconds. */
function decodeSeconds(message: Buffer): number {
  const reader = new WireReader(message);
  let milliseconds = 0;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        milliseconds += Number(reader.int64(tag)) * 1000;
        break;
      case 2:
        milliseconds += Number(reader.int64(tag)) / 1e6;
        break;
      default:
        reader.skip(tag);
    }
  }
  return milliseconds;
}
