import { setImmediate } from 'node:timers/promises';
import { checkStreamName } from '../protocol/append-request.js';
import { invalidArgument, streamDeleted } from '../protocol/grpc-error.js';
import type { AllPosition, Origin, ReadRequest } from '../protocol/read-request.js';
import { decodeReadRequest } from '../protocol/read-request.js';
import { FrameBatch, encodeStreamNotFound } from '../protocol/read-response.js';
import { LAST_REVISION } from '../rules/expected-state.js';
import type { EventLog } from '../storage/event-log.js';
import { FIRST_POSITION } from '../storage/record-table.js';
import type { GrpcCall } from '../transport/grpc-call.js';
import type { Step } from './all-cursor.js';
import { AllCursor } from './all-cursor.js';
import { AllCursorBackwards, StreamCursorBackwards } from './backward-cursors.js';
import { filterOf } from './cursor-filter.js';
import { EventPresenter } from './event-presenter.js';
import { isOverfull } from './overfull-page.js';
import { checkedPosition } from './read-position.js';
import { StreamCursor } from './stream-cursor.js';
import { subscribe } from './subscription.js';

/** What a finite read walks over. */
export interface Cursor {
  readonly atHead: boolean;
  page(limit: number): readonly Step[];
}

/** `Streams/Read`: a finite read or a subscription, of one stream or of the whole log. */
export async function read(log: EventLog, call: GrpcCall): Promise<void> {
  const request = decodeReadRequest(await call.receiveOne());
  if (request.target.kind === 'stream') checkStreamName(request.target.stream);
  if (request.filter !== undefined && request.target.kind === 'stream') {
    throw invalidArgument('A filter applies to $all only.');
  }
  if (request.extent.kind === 'subscription') return subscribe(log, call, request);
  if (request.target.kind === 'stream') {
    const found = log.states.readable(request.target.stream);
    if (found.kind === 'deleted') throw streamDeleted(request.target.stream);
    if (found.kind === 'not-found') {
      const batch = new FrameBatch();
      batch.addMessage(encodeStreamNotFound(request.target.stream));
      await call.write(batch.take());
      return call.end();
    }
  }
  await send(log, call, request, cursorFor(log, request), request.extent.count);
  call.end();
}

async function send(
  log: EventLog,
  call: GrpcCall,
  request: ReadRequest,
  cursor: Cursor,
  count: bigint,
): Promise<void> {
  const presenter = new EventPresenter(log, request);
  const batch = new FrameBatch();
  let left = count;
  let sending: Promise<void> | undefined;
  while (left > 0n && !cursor.atHead && !call.closed.aborted) {
    const limit = left > 0x7fffffffn ? 0x7fffffff : Number(left);
    for (const step of cursor.page(limit)) {
      if (step.kind !== 'record') continue;
      batch.addEvent(presenter.present(step.record));
      left -= 1n;
      if (!isOverfull(batch)) continue;
      await sending;
      if (call.closed.aborted) return;
      sending = call.write(batch.take());
    }
    // One page is on its way while the next is made; others get their turn between two pages in any case.
    await (sending ?? setImmediate());
    sending = batch.bytes === 0 ? undefined : call.write(batch.take());
  }
  await sending;
}

function cursorFor(log: EventLog, request: ReadRequest): Cursor {
  const { target, direction } = request;
  if (target.kind === 'stream') {
    if (direction === 'forwards') return new StreamCursor(log, target.stream, startRevision(target.from));
    const from = target.from.kind === 'at' ? target.from.at : undefined;
    return new StreamCursorBackwards(log, target.stream, target.from.kind === 'start' ? 0n : from);
  }
  const filter = filterOf(log, request);
  const from = startPosition(log, target.from);
  return direction === 'forwards'
    ? new AllCursor(log, from, filter, undefined)
    : new AllCursorBackwards(log, from, filter);
}

function startPosition(log: EventLog, from: Origin<AllPosition>): bigint {
  switch (from.kind) {
    case 'start':
      return FIRST_POSITION;
    case 'end':
      return log.head;
    case 'at': {
      const position = checkedPosition(log, from.at);
      return position < FIRST_POSITION ? FIRST_POSITION : position;
    }
    default:
      return from satisfies never;
  }
}

/** A forward read from the end finds nothing. */
function startRevision(from: Origin<bigint>): bigint {
  switch (from.kind) {
    case 'start':
      return 0n;
    case 'end':
      return LAST_REVISION;
    case 'at':
      return from.at;
    default:
      return from satisfies never;
  }
}
