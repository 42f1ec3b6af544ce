import { randomUUID } from 'node:crypto';
import type { JSONEventData } from '@eventstore/db-client';
import { jsonEvent } from '@eventstore/db-client';

/** About 600 bytes with its metadata, as the events of an application are. */
export function sampleEvent(number: number, type = 'BenchHappened'): JSONEventData {
  return jsonEvent({
    id: randomUUID(),
    type,
    data: { number, session: `conv_${number % 1000}`, status: 'running', text: 'lorem ipsum '.repeat(28) },
    metadata: { $correlationId: `c${number}`, actor: 'bench', occurred_at: '2026-01-01T00:00:00.000Z' },
  });
}

/** One event in ten is of this type. */
export const RARE = 'BenchRare';

export function mixedEvents(count: number): JSONEventData[] {
  return Array.from({ length: count }, (_, number) =>
    sampleEvent(number, number % 10 === 0 ? RARE : 'BenchHappened'),
  );
}
