import type { ExpectedState } from '../rules/expected-state.js';
import { NO_EVENTS } from '../rules/expected-state.js';
import { WireWriter } from '../wire/wire-writer.js';
import type { GrpcError } from './grpc-error.js';

export interface Written {
  /** -1 when the stream is still empty. */
  readonly revision: bigint;
  readonly position: bigint | undefined;
}

/** Fields 1 and 2 are the revision or no stream, 3 and 4 the position or none: the same in both responses. */
function writeSuccess(writer: WireWriter, written: Written): void {
  if (written.revision === NO_EVENTS) writer.empty(2);
  else writer.varint(1, written.revision);
  const { position } = written;
  if (position === undefined) writer.empty(4);
  else writer.message(3, (place) => place.varint(1, position).varint(2, position));
}

export function encodeAppendSuccess(written: Written): Buffer {
  return new WireWriter().message(1, (success) => writeSuccess(success, written)).finish();
}

export function encodeAppendConflict(expected: ExpectedState, current: bigint): Buffer {
  return new WireWriter()
    .message(2, (conflict) => {
      if (current === NO_EVENTS) conflict.empty(7);
      else conflict.varint(6, current);
      writeExpected(conflict, expected, { exact: 8, any: 9, streamExists: 10, noStream: 11 });
    })
    .finish();
}

/** `DeleteResp` and `TombstoneResp`. */
export function encodeDeleted(position: bigint | undefined): Buffer {
  const writer = new WireWriter();
  if (position === undefined) return writer.empty(2).finish();
  return writer.message(1, (place) => place.varint(1, position).varint(2, position)).finish();
}

export function encodeBatchSuccess(correlationId: Buffer, stream: Buffer, written: Written): Buffer {
  return new WireWriter(128 + stream.length)
    .bytes(1, correlationId)
    .message(3, (success) => writeSuccess(success, written))
    .message(4, (identifier) => identifier.bytes(3, stream))
    .finish();
}

/** A failed batch is answered inside the stream, as a google.rpc.Status with the reason as its detail. */
export interface BatchFailure {
  readonly code: number;
  readonly message: string;
  readonly type:
    | 'WrongExpectedVersion'
    | 'StreamDeleted'
    | 'AccessDenied'
    | 'Timeout'
    | 'MaximumAppendSizeExceeded'
    | 'BadRequest'
    | 'Unknown';
  readonly detail: Buffer;
}

export function encodeBatchFailure(correlationId: Buffer, stream: Buffer, failure: BatchFailure): Buffer {
  return new WireWriter(256 + stream.length)
    .bytes(1, correlationId)
    .message(2, (status) =>
      status
        .varint(1, failure.code)
        .string(2, failure.message)
        .message(3, (any) =>
          any.string(1, `type.googleapis.com/event_store.client.${failure.type}`).bytes(2, failure.detail),
        ),
    )
    .message(4, (identifier) => identifier.bytes(3, stream))
    .finish();
}

const NO_DETAIL = Buffer.alloc(0);

export function batchConflict(expected: ExpectedState, current: bigint): BatchFailure {
  const detail = new WireWriter();
  if (current === NO_EVENTS) detail.empty(2);
  else detail.varint(1, current);
  writeExpected(detail, expected, { exact: 3, any: 4, streamExists: 5, noStream: 6 });
  return { code: 6, message: 'WrongExpectedVersion', type: 'WrongExpectedVersion', detail: detail.finish() };
}

export function batchStreamDeleted(stream: Buffer): BatchFailure {
  const detail = new WireWriter().message(1, (identifier) => identifier.bytes(3, stream)).finish();
  return { code: 5, message: 'StreamDeleted', type: 'StreamDeleted', detail };
}

export const batchTimeout: BatchFailure = { code: 4, message: 'Timeout', type: 'Timeout', detail: NO_DETAIL };

export function batchTooLarge(limit: number): BatchFailure {
  const detail = new WireWriter().varint(1, limit).finish();
  return { code: 3, message: 'MaximumAppendSizeExceeded', type: 'MaximumAppendSizeExceeded', detail };
}

/** Any other refusal of one batch: it must not end the stream that all appends of a client share. */
export function batchRefusal(error: GrpcError): BatchFailure {
  if (error.trailers['exception'] === 'access-denied') {
    return { code: 7, message: error.message, type: 'AccessDenied', detail: NO_DETAIL };
  }
  const detail = new WireWriter().string(1, error.message).finish();
  return { code: error.status, message: error.message, type: 'BadRequest', detail };
}

export const batchUnknown: BatchFailure = {
  code: 2,
  message: 'The write failed inside the node.',
  type: 'Unknown',
  detail: NO_DETAIL,
};

interface ExpectedFields {
  readonly exact: number;
  readonly any: number;
  readonly streamExists: number;
  readonly noStream: number;
}

function writeExpected(writer: WireWriter, expected: ExpectedState, fields: ExpectedFields): void {
  switch (expected.kind) {
    case 'exact':
      writer.varint(fields.exact, expected.revision);
      return;
    case 'any':
      writer.empty(fields.any);
      return;
    case 'stream-exists':
      writer.empty(fields.streamExists);
      return;
    case 'no-stream':
      writer.empty(fields.noStream);
      return;
    default:
      expected satisfies never;
  }
}
