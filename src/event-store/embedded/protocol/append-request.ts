import type { ExpectedState } from '../rules/expected-state.js';
import { LAST_REVISION } from '../rules/expected-state.js';
import { EMPTY_UUID, decodeUuid } from '../wire/uuid-message.js';
import { WireReader } from '../wire/wire-reader.js';
import { invalidArgument, missingMetadata } from './grpc-error.js';
import type { ProposedEvent } from './recorded-event.js';
import { JSON_CONTENT, decodeMapEntry, decodeStreamIdentifier } from './recorded-event.js';

/** The limit of one append: data, metadata and twice the type of all its events. */
export const MAXIMUM_APPEND_SIZE = 1024 * 1024;

export interface WriteTarget {
  readonly stream: Buffer;
  readonly expected: ExpectedState;
}

/** The options of Append, BatchAppend, Delete and Tombstone number these fields alike. */
export function decodeTarget(message: Buffer): WriteTarget {
  const reader = new WireReader(message);
  let stream: Buffer = Buffer.alloc(0);
  let expected: ExpectedState | undefined;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        stream = decodeStreamIdentifier(reader.bytes(tag));
        break;
      case 2:
        expected = { kind: 'exact', revision: reader.uint64(tag) };
        break;
      case 3:
        reader.skip(tag);
        expected = { kind: 'no-stream' };
        break;
      case 4:
        reader.skip(tag);
        expected = { kind: 'any' };
        break;
      case 5:
        reader.skip(tag);
        expected = { kind: 'stream-exists' };
        break;
      default:
        reader.skip(tag);
    }
  }
  if (expected === undefined) throw invalidArgument('The expected state of the stream is missing.');
  return { stream, expected };
}

export function checkTarget(target: WriteTarget): WriteTarget {
  checkStreamName(target.stream);
  if (target.expected.kind === 'exact' && target.expected.revision >= LAST_REVISION) {
    throw invalidArgument(`${target.expected.revision} is not a stream revision.`);
  }
  return target;
}

/** Longest stream name in bytes; what does not fit a record's index should not become a stream. */
const LONGEST_NAME = 64 * 1024;

export function checkStreamName(stream: Buffer): void {
  const text = stream.toString('latin1');
  if (text === '' || text === '$$') throw invalidArgument('The stream name is not valid.');
  if (stream.length > LONGEST_NAME) throw invalidArgument('The stream name is too long.');
}

/**
 * `ProposedMessage`, the same in Append and BatchAppend: id 1, metadata 2, custom metadata 3, data 4.
 * Throws for an id that is no UUID or all zeros, and for a missing or empty type.
 */
export function decodeProposedEvent(message: Buffer): ProposedEvent {
  const reader = new WireReader(message);
  let id: string | undefined;
  let type: string | undefined;
  let contentType: string | undefined;
  let metadata: Buffer = Buffer.alloc(0);
  let data: Buffer = Buffer.alloc(0);
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        id = decodeUuid(reader.bytes(tag));
        break;
      case 2: {
        const [key, value] = decodeMapEntry(reader.bytes(tag));
        if (key === 'type') type = value;
        else if (key === 'content-type') contentType = value;
        break;
      }
      case 3:
        metadata = reader.bytes(tag);
        break;
      case 4:
        data = reader.bytes(tag);
        break;
      default:
        reader.skip(tag);
    }
  }
  if (id === undefined || id === EMPTY_UUID)
    throw invalidArgument('An event id must be a UUID and not empty.');
  if (type === undefined || contentType === undefined) throw missingMetadata();
  if (type === '') throw invalidArgument('An event type must not be empty.');
  return { id, type, isJson: contentType === JSON_CONTENT, metadata, data };
}

export function appendSize(event: ProposedEvent): number {
  return event.data.length + event.metadata.length + 2 * event.type.length;
}
