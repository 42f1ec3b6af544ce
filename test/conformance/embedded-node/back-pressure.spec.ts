import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, rmSync } from 'node:fs';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { START, binaryEvent, jsonEvent } from '@eventstore/db-client';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { newStream, recordedIn, sampleEvents } from '../sample-events.js';
import { STREAMS, RawClient, field, grpcFrame } from './raw-client.js';

const READERS = 40;
const HISTORY_MB = 60;
/** Forty readers that were each sent the history would take gigabytes; a page and a window each is this. */
const ALLOWED_GROWTH_MB = 120;

let dir: string;
let node: EmbeddedNodeProcess;
let client: EventStoreDBClient;

beforeAll(async () => {
  dir = temporaryDirectory();
  node = await spawnEmbeddedNode(dir);
  client = connectTo(node.url);
  const event = () => jsonEvent({ type: 'Filler', data: 'x'.repeat(100_000) });
  for (let written = 0; written < HISTORY_MB * 10; written += 8) {
    await client.appendToStream(newStream('filler'), Array.from({ length: 8 }, event));
  }
}, 60_000);
afterAll(async () => {
  await client.dispose();
  node.child.kill('SIGTERM');
  await exited(node.child);
  rmSync(dir, { recursive: true, force: true });
});

function memory(): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'));
  return Number(match?.[1] ?? 0) / 1024;
}

describe('readers that do not read', () => {
  it('cost the node a page each, and writers nothing', async () => {
    await recordedIn(client.readAll({ maxCount: 400 }));
    const before = memory();
    const paused = Array.from({ length: READERS }, () => client.subscribeToAll({ fromPosition: START }));
    for (const subscription of paused) subscription.on('error', () => undefined).pause();
    let highest = 0;
    for (let round = 0; round < 150; round += 1) {
      await client.appendToStream(newStream(), sampleEvents(20));
      highest = Math.max(highest, memory());
    }
    expect(highest - before).toBeLessThan(ALLOWED_GROWTH_MB);
    await Promise.all(paused.map((subscription) => subscription.unsubscribe()));
  });

  it('whose window is closed altogether do not hold back the others of their connection', async () => {
    const raw = new RawClient(node.port);
    const all = field(1, Buffer.concat([field(2, field(2, '')), field(6, '')]));
    for (let reader = 0; reader < READERS; reader += 1) {
      const stream = raw.open(`${STREAMS}/Read`);
      stream.end(grpcFrame(all));
      stream.pause();
    }
    const before = memory();
    for (let round = 0; round < 50; round += 1) {
      const target = field(1, Buffer.concat([field(1, field(3, newStream())), field(4, '')]));
      const answer = await raw.call(`${STREAMS}/Append`, grpcFrame(target));
      expect(answer.status).toBe(0);
      await client.appendToStream(newStream(), sampleEvents(20));
    }
    const read = field(1, Buffer.concat([field(2, field(2, '')), Buffer.of(5 << 3, 100)]));
    expect((await raw.call(`${STREAMS}/Read`, grpcFrame(read))).body.length).toBeGreaterThan(5_000_000);
    expect(memory() - before).toBeLessThan(ALLOWED_GROWTH_MB);
    raw.close();
  });

  it('cost no more when their events are links, to an event that is large', async () => {
    const [target, links] = [newStream(), newStream()];
    await client.appendToStream(target, jsonEvent({ type: 'Large', data: 'x'.repeat(1_000_000) }));
    const link = () => binaryEvent({ type: '$>', data: Buffer.from(`0@${target}`) });
    await client.appendToStream(links, Array.from({ length: 1_000 }, link));
    const before = memory();
    const options = { fromRevision: START, resolveLinkTos: true } as const;
    const paused = [client.subscribeToStream(links, options), client.readStream(links, options)];
    for (const reader of paused) reader.on('error', () => undefined).pause();
    let highest = 0;
    for (let round = 0; round < 150; round += 1) {
      await client.appendToStream(newStream(), sampleEvents(20));
      highest = Math.max(highest, memory());
    }
    expect(highest - before).toBeLessThan(ALLOWED_GROWTH_MB);
    for (const reader of paused) reader.destroy();
  });
});
