import { EventStoreDBClient, FORWARDS, START } from '@eventstore/db-client';
import type { JSONEventType } from '@eventstore/db-client';
import type { StoredEvent } from '../event-store.js';

const PREFIX = 'rollcall.';

/** Every event of Rollcall's streams, in the order of the log. */
export async function readWholeLog(url: string): Promise<StoredEvent[]> {
  const client = EventStoreDBClient.connectionString(url);
  const reading = client.readAll({ direction: FORWARDS, fromPosition: START });
  const found: StoredEvent[] = [];
  try {
    for await (const { event } of reading) {
      if (!event?.streamId.startsWith(PREFIX)) continue;
      const json = event as unknown as JSONEventType & { metadata?: Record<string, unknown> };
      found.push({
        id: event.id,
        type: event.type,
        stream: event.streamId,
        revision: event.revision.toString(),
        position: event.position.commit.toString(),
        data: json.data as Record<string, unknown>,
        metadata: json.metadata ?? {},
      });
    }
  } finally {
    await reading.cancel();
    await client.dispose();
  }
  return found;
}
