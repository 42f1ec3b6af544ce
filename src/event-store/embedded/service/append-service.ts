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
import type { WriteOutcome } from '../storage/log-writer.js';
import type { GrpcCall } from '../transport/grpc-call.js';
import { WireReader } from '../wire/wire-reader.js';
import type { Intake } from './intake.js';

/** What the messages of one call may hold in memory, with everything that the size of an append leaves out. */
const MOST_HELD_BYTES = 64 * MAXIMUM_APPEND_SIZE;

/** What the messages of one call add up to. */
class Proposal {
  target: WriteTarget | undefined;
  readonly events: ProposedEvent[] = [];
  private size = 0;
  held = 0;

  constructor(private readonly intake: Intake) {}

  add(message: Buffer): void {
    // Events are views into their message and keep all of it alive, whatever else it holds.
    this.held += message.length;
    this.intake.hold(message.length);
    if (this.held > MOST_HELD_BYTES || this.intake.overfull)
      throw maximumAppendSizeExceeded(MAXIMUM_APPEND_SIZE);
    const reader = new WireReader(message);
    for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
      switch (tag >>> 3) {
        case 1:
          if (this.target !== undefined) throw invalidArgument('The options came twice.');
          this.target = checkTarget(decodeTarget(reader.bytes(tag)));
          break;
        case 2:
          this.addEvent(decodeProposedEvent(reader.bytes(tag)));
          break;
        default:
          reader.skip(tag);
      }
    }
  }

  private addEvent(event: ProposedEvent): void {
    this.size += appendSize(event);
    if (this.size > MAXIMUM_APPEND_SIZE) throw maximumAppendSizeExceeded(MAXIMUM_APPEND_SIZE);
    this.events.push(event);
  }
}

/** `Streams/Append`: options first, then one message per event. */
export async function append(log: EventLog, call: GrpcCall, intake: Intake): Promise<void> {
  const proposal = new Proposal(intake);
  try {
    await call.receive((message) => proposal.add(message));
    answer(call, await written(log, proposal, intake));
  } finally {
    intake.close(proposal.held);
  }
}

interface Written {
  readonly target: WriteTarget;
  readonly outcome: WriteOutcome;
}

async function written(log: EventLog, { target, events, held }: Proposal, intake: Intake): Promise<Written> {
  if (target === undefined) throw invalidArgument('The options are missing.');
  await intake.drained();
  const outcome = await intake.while(held, log.write({ kind: 'append', ...target, events }));
  return { target, outcome };
}

function answer(call: GrpcCall, { target, outcome }: Written): void {
  switch (outcome.kind) {
    case 'written':
      return call.end(encodeAppendSuccess(outcome));
    case 'wrong-expected-version':
      return call.end(encodeAppendConflict(target.expected, outcome.current));
    case 'stream-deleted':
      throw streamDeleted(target.stream);
    default:
      return outcome satisfies never;
  }
}
