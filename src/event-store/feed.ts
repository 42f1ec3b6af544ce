import { START, streamNameFilter } from '@eventstore/db-client';
import type { AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client';
import { toRawEvent } from './raw-event.js';
import type { Position } from './position.js';
import type { RawEvent } from './recorded-event.js';

/** Considered events between two checkpoint frames: rare enough to cost nothing, often enough for a sparse log. */
const CHECKPOINT_WINDOW = 1_000;
const CLIENT_BUFFER = 256;

export interface FeedHandlers {
  event(raw: RawEvent): void;
  /**
   * Everything up to `position` has been handed over, as far as the client's own buffer can tell. A checkpoint frame
   * overtakes events that the client still buffers; such a frame is dropped here, never passed on.
   */
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

export function followAll(
  client: EventStoreDBClient,
  from: Position | null,
  prefixes: readonly string[],
  handlers: FeedHandlers,
): Feed {
  const subscription: AllStreamSubscription = client.subscribeToAll(
    {
      fromPosition: from === null ? START : { commit: from, prepare: from },
      filter: streamNameFilter({
        prefixes: [...prefixes],
        maxSearchWindow: CHECKPOINT_WINDOW,
        checkpointInterval: 1,
        // What it throws the client would keep to itself, and stop the subscription without a word.
        checkpointReached: (source, position) => {
          try {
            if (source.readableLength === 0) handlers.passed(position.commit);
          } catch (error) {
            source.destroy(error instanceof Error ? error : new Error(String(error)));
          }
          return Promise.resolve();
        },
      }),
    },
    { highWaterMark: CLIENT_BUFFER },
  );
  let stopped = false;
  const ended = new Promise<Error | null>((resolve) => {
    const finish = (reason: Error): void => resolve(stopped ? null : reason);
    // Like a checkpoint frame, this one overtakes events that the client still buffers.
    let isEarly = false;
    subscription.on('data', (resolved) => {
      const raw = toRawEvent(resolved);
      // What the log says of a stream itself (`$streamDeleted`, when an operator ended it for good) is no event of ours.
      if (raw?.type.startsWith('$')) handlers.passed(raw.position);
      else if (raw) handlers.event(raw);
      if (!isEarly || subscription.readableLength > 0) return;
      isEarly = false;
      handlers.caughtUp();
    });
    subscription.on('caughtUp', () => {
      if (subscription.readableLength > 0) isEarly = true;
      else handlers.caughtUp();
    });
    subscription.on('error', (error: Error) => finish(error));
    subscription.on('end', () => finish(new Error('the log ended the subscription')));
    subscription.on('close', () => finish(new Error('the subscription was closed')));
  });
  return {
    ended,
    pause: () => subscription.pause(),
    resume: () => subscription.resume(),
    stop: async () => {
      stopped = true;
      await subscription.unsubscribe().catch(() => undefined);
      subscription.destroy();
      await ended;
    },
  };
}
