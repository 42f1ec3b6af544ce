import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Type } from '@sinclair/typebox';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventCatalogue } from '../../../src/event-store/catalogue.js';
import { EventRegistry } from '../../../src/event-store/event-registry.js';
import { eventType, type EventType } from '../../../src/event-store/event-type.js';
import { type OldEvent, oldEvents } from '../../support/old-events.js';

const STORED = join(process.cwd(), 'test/replay/upcasters');

function readAs(catalogue: readonly EventType[], { type, schema, data }: OldEvent): unknown {
  const metadata = {
    schema,
    $correlationId: 'c',
    $causationId: 'c',
    actor: 'anonymous',
    occurred_at: '2026-01-01T00:00:00.000Z',
  };
  const place = { id: 'e', stream: 'rollcall.session-x', revision: 0n, position: 0n, recordedAt: 0 };
  return new EventRegistry(catalogue, new Set()).decode({ ...place, type, data, metadata }).event.data;
}

it('every old schema of the catalogue has a stored example, and each reads as it should', () => {
  for (const event of oldEvents(STORED, eventCatalogue)) {
    expect([event.type, event.schema, readAs(eventCatalogue, event)]).toEqual([
      event.type,
      event.schema,
      event.reads_as,
    ]);
  }
});

describe('a stored example', () => {
  const renamed = eventType('Named', 3, Type.Object({ agent_name: Type.String(), size: Type.Integer() }), {
    1: (data) => ({ agent_name: (data as { agent: string }).agent }),
    2: (data) => ({ ...(data as object), size: 0 }),
  });
  const lines = [
    { schema: 1, data: { agent: 'ann' }, reads_as: { agent_name: 'ann', size: 0 } },
    { schema: 2, data: { agent_name: 'ann' }, reads_as: { agent_name: 'ann', size: 0 } },
  ];
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'old-events-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const store = (stored: readonly object[]): void =>
    writeFileSync(
      join(directory, 'Named.ndjson'),
      stored.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );

  it('is missed for each old schema', () => {
    expect(() => oldEvents(STORED, [renamed])).toThrow('Named has no stored example of schema 1');
    store(lines.slice(0, 1));
    expect(() => oldEvents(directory, [renamed])).toThrow('Named has no stored example of schema 2');
  });

  it('is lifted through all schemas between', () => {
    store(lines);
    const events = oldEvents(directory, [renamed]);
    expect(events).toHaveLength(2);
    for (const event of events) expect(readAs([renamed], event)).toEqual(event.reads_as);
  });
});
