import { WireReader } from '../wire/wire-reader.js';
import { WireWriter } from '../wire/wire-writer.js';
import { decodeUuid, encodeStructuredUuid, encodeUuid } from '../wire/uuid-message.js';

export const JSON_CONTENT = 'application/json';
export const BINARY_CONTENT = 'application/octet-stream';

/** An event as a client proposes it, already checked. */
export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly metadata: Buffer;
  readonly data: Buffer;
}

/** Where and when the log puts an event. `created` is in milliseconds since the epoch. */
export interface Placement {
  readonly stream: Buffer;
  readonly revision: bigint;
  readonly position: bigint;
  readonly created: number;
}

export interface RecordedEvent extends ProposedEvent {
  readonly stream: Buffer;
  readonly revision: bigint;
}

// The id is the first field and always text, so it lies at a fixed place: tag, length, tag, length, 36 bytes.
const ID_OFFSET = 4;
const ID_END = ID_OFFSET + 36;
// `created` counts units of 100 ns since the Unix epoch.
const TICKS_PER_MILLISECOND = 10_000;

const MAP_ENTRY_FIELD = 6;
const contentTypeEntries = {
  json: mapEntry('content-type', JSON_CONTENT),
  binary: mapEntry('content-type', BINARY_CONTENT),
};

function mapEntry(key: string, value: string): Buffer {
  return new WireWriter(16 + key.length + value.length).string(1, key).string(2, value).finish();
}

/** The bytes of `ReadResp.ReadEvent.RecordedEvent`, stored and served as they are. */
export function encodeRecordedEvent(event: ProposedEvent, at: Placement): Buffer {
  return new WireWriter(
    320 + at.stream.length + event.type.length + event.metadata.length + event.data.length,
  )
    .bytes(1, encodeUuid(event.id))
    .message(2, (identifier) => identifier.bytes(3, at.stream))
    .varint(3, at.revision)
    .varint(4, at.position)
    .varint(5, at.position)
    .bytes(MAP_ENTRY_FIELD, mapEntry('type', event.type))
    .bytes(MAP_ENTRY_FIELD, mapEntry('created', String(at.created * TICKS_PER_MILLISECOND)))
    .bytes(MAP_ENTRY_FIELD, event.isJson ? contentTypeEntries.json : contentTypeEntries.binary)
    .bytes(7, event.metadata)
    .bytes(8, event.data)
    .finish();
}

export function eventIdOf(record: Buffer): string {
  return record.toString('latin1', ID_OFFSET, ID_END);
}

/** The same record with its id as two 64-bit halves, for a client that asks for structured UUIDs. */
export function withStructuredId(record: Buffer): Buffer {
  const id = new WireWriter(64).bytes(1, encodeStructuredUuid(eventIdOf(record))).finish();
  return Buffer.concat([id, record.subarray(ID_END)]);
}

export function decodeRecordedEvent(record: Buffer): RecordedEvent {
  const reader = new WireReader(record);
  let id = '';
  let type = '';
  let isJson = false;
  let stream: Buffer = Buffer.alloc(0);
  let revision = 0n;
  let metadata: Buffer = Buffer.alloc(0);
  let data: Buffer = Buffer.alloc(0);
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        id = decodeUuid(reader.bytes(tag)) ?? '';
        break;
      case 2:
        stream = decodeStreamIdentifier(reader.bytes(tag));
        break;
      case 3:
        revision = reader.uint64(tag);
        break;
      case MAP_ENTRY_FIELD: {
        const [key, value] = decodeMapEntry(reader.bytes(tag));
        if (key === 'type') type = value;
        else if (key === 'content-type') isJson = value === JSON_CONTENT;
        break;
      }
      case 7:
        metadata = reader.bytes(tag);
        break;
      case 8:
        data = reader.bytes(tag);
        break;
      default:
        reader.skip(tag);
    }
  }
  return { id, type, isJson, stream, revision, metadata, data };
}

export function decodeStreamIdentifier(message: Buffer): Buffer {
  const reader = new WireReader(message);
  let name: Buffer = Buffer.alloc(0);
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag >>> 3 === 3) name = reader.bytes(tag);
    else reader.skip(tag);
  }
  return name;
}

export function decodeMapEntry(message: Buffer): readonly [key: string, value: string] {
  const reader = new WireReader(message);
  let key = '';
  let value = '';
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        key = reader.string(tag);
        break;
      case 2:
        value = reader.string(tag);
        break;
      default:
        reader.skip(tag);
    }
  }
  return [key, value];
}
