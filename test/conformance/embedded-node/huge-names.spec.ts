import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, rmSync } from 'node:fs';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { START, streamNameFilter } from '@eventstore/db-client';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { RecordedSubscription } from '../recorded-subscription.js';
import { newStream, revisionsIn, sampleEvents } from '../sample-events.js';

const NAMES = 600;
const NAME_BYTES = 60_000;
/** All names once are 36 MB, and the node keeps several caches by name. */
const ALLOWED_GROWTH_MB = 40;
/** A small heap, so that what is garbage is collected and what grows is kept. */
const SMALL_HEAP = ['--max-old-space-size=96', '--max-semi-space-size=1'];

let dir: string;
let node: EmbeddedNodeProcess;
let client: EventStoreDBClient;

beforeAll(async () => {
  dir = temporaryDirectory();
  node = await spawnEmbeddedNode(dir, 0, SMALL_HEAP);
  client = connectTo(node.url);
});
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
const hugeName = (): string => newStream().padEnd(NAME_BYTES, 'x');

describe('thousands of huge stream names', () => {
  it('are written, read, described and filtered without staying in memory', async () => {
    const use = async (names: number): Promise<string> => {
      let stream = '';
      for (let written = 0; written < names; written += 10) {
        const streams = Array.from({ length: 10 }, hugeName);
        await Promise.all(streams.map((name) => client.appendToStream(name, sampleEvents(1))));
        stream = streams[0] ?? '';
        expect(await revisionsIn(client.readStream(stream))).toEqual([0n]);
      }
      return stream;
    };
    await use(150);
    const before = memory();
    const last = await use(NAMES);
    const filter = streamNameFilter({ prefixes: [last] });
    const found = await new RecordedSubscription(
      client.subscribeToAll({ fromPosition: START, filter }),
    ).caughtUp();
    expect(found.events.map((event) => event.streamId)).toEqual([last]);
    await found.stop();
    expect(memory() - before).toBeLessThan(ALLOWED_GROWTH_MB);
  }, 60_000);
});
