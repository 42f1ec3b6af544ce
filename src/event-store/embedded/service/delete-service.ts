import { checkTarget, decodeTarget } from '../protocol/append-request.js';
import { encodeDeleted } from '../protocol/append-response.js';
import { invalidArgument, streamDeleted, wrongExpectedVersion } from '../protocol/grpc-error.js';
import type { ExpectedState } from '../rules/expected-state.js';
import type { EventLog } from '../storage/event-log.js';
import type { GrpcCall } from '../transport/grpc-call.js';
import { WireReader } from '../wire/wire-reader.js';

/** `Streams/Delete` (the stream can be written again) and `Streams/Tombstone` (it never can). */
export async function deleteStream(
  log: EventLog,
  call: GrpcCall,
  kind: 'delete' | 'tombstone',
): Promise<void> {
  const reader = new WireReader(await call.receiveOne());
  let options: Buffer | undefined;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag >>> 3 === 1) options = reader.bytes(tag);
    else reader.skip(tag);
  }
  if (options === undefined) throw invalidArgument('The options are missing.');
  const { stream, expected } = checkTarget(decodeTarget(options));
  const outcome = await log.write({ kind, stream, expected });
  switch (outcome.kind) {
    case 'written':
      return call.end(encodeDeleted(outcome.position));
    case 'wrong-expected-version':
      throw wrongExpectedVersion(stream, expectedNumber(expected), outcome.current);
    case 'stream-deleted':
      throw streamDeleted(stream);
    default:
      return outcome satisfies never;
  }
}

/** The numbers that stand for expected states in trailers. */
function expectedNumber(expected: ExpectedState): bigint {
  switch (expected.kind) {
    case 'exact':
      return expected.revision;
    case 'no-stream':
      return -1n;
    case 'any':
      return -2n;
    case 'stream-exists':
      return -4n;
    default:
      return expected satisfies never;
  }
}
