import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ReadRequest } from '../protocol/read-request.js';
import {
  FrameBatch,
  encodeCaughtUp,
  encodeCheckpoint,
  encodeConfirmation,
} from '../protocol/read-response.js';
import type { EventLog } from '../storage/event-log.js';
import { FIRST_POSITION, positionAfter } from '../storage/record-table.js';
import type { GrpcCall } from '../transport/grpc-call.js';
import { AllCursor } from './all-cursor.js';
import { EventPresenter } from './event-presenter.js';
import { checkedPosition } from './read-position.js';
import { isOverfull } from './overfull-page.js';
import { filterOf } from './cursor-filter.js';
import { StreamCursor } from './stream-cursor.js';

/**
 * A subscription is a cursor and a wake-up. It buffers nothing but the page being sent: a slow reader stops
 * at HTTP/2 flow control, costs no memory, and goes on from where it is.
 */
export async function subscribe(log: EventLog, call: GrpcCall, request: ReadRequest): Promise<void> {
  const cursor = subscriptionCursor(log, request);
  const presenter = new EventPresenter(log, request);
  const batch = new FrameBatch();
  batch.addMessage(encodeConfirmation(randomUUID()));
  let live = false;
  let sending: Promise<void> | undefined;
  while (!call.closed.aborted) {
    for (const step of cursor.page()) {
      if (step.kind === 'record') batch.addEvent(presenter.present(step.record));
      else batch.addMessage(encodeCheckpoint(step.position));
      if (!isOverfull(batch)) continue;
      await sending;
      if (call.closed.aborted) return;
      sending = call.write(batch.take());
    }
    // One page is on its way while the next is made.
    if (sending !== undefined) await sending;
    if (!cursor.atHead) {
      live = false;
    } else if (!live) {
      live = true;
      announceLive(batch, cursor, request);
    }
    sending = batch.bytes === 0 ? undefined : call.write(batch.take());
    // Between this look at the head and the wait no commit can happen: nothing is missed.
    if (cursor.atHead) await log.signal.next(call.closed);
    else if (sending === undefined) await setImmediate();
  }
}

function announceLive(batch: FrameBatch, cursor: AllCursor | StreamCursor, request: ReadRequest): void {
  if (request.filter !== undefined && cursor instanceof AllCursor && cursor.seen !== undefined) {
    batch.addMessage(encodeCheckpoint(cursor.seen));
  }
  batch.addMessage(encodeCaughtUp());
}

/** The start of a subscription is exclusive; END means later events only. */
function subscriptionCursor(log: EventLog, request: ReadRequest): AllCursor | StreamCursor {
  const { target } = request;
  if (target.kind === 'stream') {
    const { stream, from } = target;
    const afterLast = log.states.of(stream).lastRevision + 1n;
    if (from.kind === 'at') return new StreamCursor(log, stream, from.at + 1n);
    return new StreamCursor(log, stream, from.kind === 'end' ? afterLast : 0n);
  }
  const filter = filterOf(log, request);
  switch (target.from.kind) {
    case 'start':
      return new AllCursor(log, FIRST_POSITION, filter, undefined);
    case 'end':
      return new AllCursor(log, log.head, filter, log.lastPosition);
    case 'at': {
      const at = checkedPosition(log, target.from.at);
      if (at === 0n) return new AllCursor(log, FIRST_POSITION, filter, undefined);
      const record = at < log.head ? log.records.at(at) : undefined;
      return new AllCursor(log, record === undefined ? at + 1n : positionAfter(record), filter, at);
    }
    default:
      return target.from satisfies never;
  }
}
