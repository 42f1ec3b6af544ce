import { EventStoreDBClient, FORWARDS, START, StreamNotFoundError, jsonEvent } from '@eventstore/db-client';
import type { AppendExpectedRevision, JSONEventType } from '@eventstore/db-client';

/** An event as it lies on its stream. Numbers of 64 bits are decimal strings, so that it can be printed and compared. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: string;
  readonly position: string;
  readonly data: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
}

export interface NewEvent {
  readonly id?: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
  readonly metadata?: Record<string, unknown>;
}

export interface RawEventStore {
  /** Every event of a stream, oldest first; empty when there is no such stream. */
  read(stream: string): Promise<StoredEvent[]>;
  append(
    stream: string,
    events: readonly NewEvent[],
    expectedRevision: AppendExpectedRevision,
  ): Promise<void>;
  /** To be called in afterAll: an open channel keeps the process alive. */
  dispose(): Promise<void>;
}

/** Talks to the log beside the server under test, to look at it or to put foreign events there. */
export function rawEventStore(url: string): RawEventStore {
  const client = EventStoreDBClient.connectionString(url);

  async function read(stream: string): Promise<StoredEvent[]> {
    const reading = client.readStream<JSONEventType>(stream, { direction: FORWARDS, fromRevision: START });
    const found: StoredEvent[] = [];
    try {
      for await (const { event } of reading) {
        if (event === undefined) continue;
        found.push({
          id: event.id,
          type: event.type,
          stream: event.streamId,
          revision: event.revision.toString(),
          position: (event.position?.commit ?? 0n).toString(),
          data: event.data as Record<string, unknown>,
          metadata: (event.metadata ?? {}) as Record<string, unknown>,
        });
      }
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
    } finally {
      await reading.cancel();
    }
    return found;
  }

  return {
    read,
    append: async (stream, events, expectedRevision) => {
      // A BigInt or undefined inside the data would leave the client's promise pending for ever.
      const safe = events.map((event) => jsonEvent(JSON.parse(JSON.stringify(event)) as NewEvent));
      await client.appendToStream(stream, safe, { expectedRevision });
    },
    dispose: () => client.dispose(),
  };
}
