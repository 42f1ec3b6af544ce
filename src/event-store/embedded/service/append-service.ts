import type { ProposedEvent } from '../protocol/recorded-event.js';
import type { WriteTarget } from '../protocol/append-request.js';
import {
  MAXIMUM_APPEND_SIZE,
  appendSize,
  checkTarget,
  decodeProposedEvent,
  decodeTarget,
} from '../protocol/append-request.js';
import { encodeAppendConflict, encodeAppendSuccess } from '../protocol/append-response.js';
import { invalidArgument, maximumAppendSizeExceeded, streamDeleted } from '../protocol/grpc-error.js';
import type { EventLog } from '../storage/event-log.js';
import type { GrpcCall } from '../transport/grpc-call.js';
import { WireReader } from '../wire/wire-reader.js';

/** `Streams/Append`: options first, then one message per event. */
export async function append(log: EventLog, call: GrpcCall): Promise<void> {
  let target: WriteTarget | undefined;
  let size = 0;
  const events: ProposedEvent[] = [];
  await call.receive((message) => {
    const reader = new WireReader(message);
    for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
      switch (tag >>> 3) {
        case 1:
          if (target !== undefined) throw invalidArgument('The options came twice.');
          target = checkTarget(decodeTarget(reader.bytes(tag)));
          break;
        case 2: {
          const event = decodeProposedEvent(reader.bytes(tag));
          size += appendSize(event);
          if (size > MAXIMUM_APPEND_SIZE) throw maximumAppendSizeExceeded(MAXIMUM_APPEND_SIZE);
          events.push(event);
          break;
        }
        default:
          reader.skip(tag);
      }
    }
  });
  // Assigned in the callback, which narrowing does not see.
  const checked = target as WriteTarget | undefined;
  if (checked === undefined) throw invalidArgument('The options are missing.');
  const outcome = await log.write({ kind: 'append', ...checked, events });
  switch (outcome.kind) {
    case 'written':
      return call.end(encodeAppendSuccess(outcome));
    case 'wrong-expected-version':
      return call.end(encodeAppendConflict(checked.expected, outcome.current));
    case 'stream-deleted':
      throw streamDeleted(checked.stream);
    default:
      return outcome satisfies never;
  }
}
