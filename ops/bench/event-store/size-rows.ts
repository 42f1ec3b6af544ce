import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { ProposedEvent } from '../../../src/event-store/embedded/protocol/recorded-event.js';
import { EventLog } from '../../../src/event-store/embedded/storage/event-log.js';
import { type Row, row } from '../report.js';
import { median } from './measure.js';
import { ServerProcess } from './node-process.js';
import { sampleEvent } from './sample.js';

const AN_APPEND = 50;
const APPENDS_AT_ONCE = 20;
const STREAMS = 20_000;
const FLAT = { atMost: 1.3 };
const STARTS = 3;

interface Size {
  readonly start: number;
  readonly memory: number;
}

/** Start-up time and resident memory must not depend on how much the log holds. */
export async function sizeRows(dir: string, small: number, large: number): Promise<Row[]> {
  const little = await measure(join(dir, 'little'), small);
  const much = await measure(join(dir, 'much'), large);
  const name = (what: string, count: number): string => `${what} with ${count} events`;
  return [
    row(name('start', small), little.start, 'ms'),
    row(name('start', large), much.start, 'ms', { what: name('start', small), value: little.start }, FLAT),
    row(name('memory', small), little.memory, 'MiB'),
    row(
      name('memory', large),
      much.memory,
      'MiB',
      { what: name('memory', small), value: little.memory },
      FLAT,
    ),
  ];
}

async function measure(dir: string, events: number): Promise<Size> {
  mkdirSync(dir);
  await write(dir, events);
  const starts: number[] = [];
  const memories: number[] = [];
  for (let repeat = 0; repeat < STARTS; repeat += 1) {
    const node = await ServerProcess.startNode(dir);
    starts.push(node.startMilliseconds);
    // A few reads and writes, so that the memory is that of a node at work.
    const client = EventStoreDBClient.connectionString(node.url);
    for (let index = 0; index < 50; index += 1) {
      await client.appendToStream(`bench-${randomUUID()}`, sampleEvent(index));
      for await (const _event of client.readAll({ maxCount: 100 }));
    }
    memories.push(node.residentMemory());
    await client.dispose();
    await node.stop();
  }
  rmSync(dir, { recursive: true });
  return { start: median(starts), memory: median(memories) };
}

async function write(dir: string, events: number): Promise<void> {
  const log = EventLog.open(join(dir, 'eventstore.db'), Date.now);
  const append = (from: number): Promise<unknown> =>
    log.write({
      kind: 'append',
      stream: Buffer.from(`bench-${(from / AN_APPEND) % STREAMS}`),
      expected: { kind: 'any' },
      events: Array.from({ length: AN_APPEND }, (_, index) => proposed(from + index)),
    });
  for (let written = 0; written < events; written += AN_APPEND * APPENDS_AT_ONCE) {
    await Promise.all(
      Array.from({ length: APPENDS_AT_ONCE }, (_, index) => append(written + index * AN_APPEND)),
    );
  }
  log.close();
}

function proposed(number: number): ProposedEvent {
  const { id, type, data, metadata } = sampleEvent(number);
  return {
    id,
    type,
    isJson: true,
    data: Buffer.from(JSON.stringify(data)),
    metadata: Buffer.from(JSON.stringify(metadata)),
  };
}
