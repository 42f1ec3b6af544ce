import type { EventStoreDBClient } from '@eventstore/db-client';
import { type FollowCall, followCall } from './follow-call.js';
import type { Position } from './position.js';
import type { ReadFrame } from './read-frames.js';
import type { RawEvent } from './recorded-event.js';

export interface FeedHandlers {
  event(raw: RawEvent): void;
  /** Everything up to `position` has been handed over. */
  passed(position: Position): void;
  /** Everything that the log held has been handed over. */
  caughtUp(): void;
}

export interface Feed {
  /** Settles once, when the subscription is over: null after `stop`, else the reason. Never rejects. */
  readonly ended: Promise<Error | null>;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Hands over what the log says, in its order. What a handler throws ends the feed and is its reason. */
export function followAll(
  client: EventStoreDBClient,
  from: Position | null,
  prefixes: readonly string[],
  handlers: FeedHandlers,
): Feed {
  let call: FollowCall | null = null;
  let paused = false;
  let over = false;
  let settle: (reason: Error | null) => void = () => undefined;
  const ended = new Promise<Error | null>((resolve) => (settle = resolve));
  const end = (reason: Error | null): void => {
    if (over) return;
    over = true;
    if (call) cancel(call);
    settle(reason);
  };
  const take = (frame: ReadFrame): void => {
    if (over) return;
    try {
      hand(frame, handlers);
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const opened = followCall(client, from, prefixes).then(
    (stream) => {
      call = stream;
      stream.on('error', end);
      stream.on('end', () => end(new Error('the log ended the subscription')));
      stream.on('close', () => end(new Error('the subscription was closed')));
      if (over) return cancel(stream);
      stream.on('data', take);
      if (paused) stream.pause();
    },
    (error: Error) => end(error),
  );
  return {
    ended,
    pause: () => {
      paused = true;
      call?.pause();
    },
    resume: () => {
      paused = false;
      call?.resume();
    },
    stop: async () => {
      end(null);
      await opened;
    },
  };
}

function hand(frame: ReadFrame, handlers: FeedHandlers): void {
  switch (frame.kind) {
    case 'event':
      return handlers.event(frame.raw);
    case 'checkpoint':
      return handlers.passed(frame.position);
    case 'caught-up':
      return handlers.caughtUp();
    case 'other':
  }
}

/** Destroyed before it is cancelled: the client takes the end of a cancelled call for the end of its connection. */
function cancel(call: FollowCall): void {
  call.destroy();
  call.cancel();
}
