import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import type { EmbeddedEventStoreOptions } from './index.js';
import { EmbeddedEventStore } from './index.js';

const stores: EmbeddedEventStore[] = [];
const clients: EventStoreDBClient[] = [];

async function start(options: EmbeddedEventStoreOptions): Promise<EmbeddedEventStore> {
  const store = await EmbeddedEventStore.start(options);
  stores.push(store);
  return store;
}
function connect(store: EmbeddedEventStore): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(store.connectionString);
  clients.push(client);
  return client;
}
async function typesIn(client: EventStoreDBClient, stream: string): Promise<string[]> {
  const types: string[] = [];
  for await (const { event } of client.readStream(stream)) if (event !== undefined) types.push(event.type);
  return types;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.dispose()));
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

describe('an embedded event store inside a process', () => {
  it('is ready well within a second', async () => {
    const before = performance.now();
    await start({ memory: true });
    expect(performance.now() - before).toBeLessThan(500);
  });

  it('is one of several that know nothing of each other', async () => {
    const [first, second] = await Promise.all([start({ memory: true }), start({ memory: true })]);
    expect(first.port).not.toBe(second.port);
    await connect(first).appendToStream('shared-name', jsonEvent({ type: 'First', data: {} }));
    await connect(second).appendToStream('shared-name', jsonEvent({ type: 'Second', data: {} }));
    expect(await typesIn(connect(first), 'shared-name')).toEqual(['First']);
    expect(await typesIn(connect(second), 'shared-name')).toEqual(['Second']);
  });

  it('keeps its events in a directory, which it lets go of when it is closed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'rollcall-embedded-'));
    const first = await start({ dir: join(dir, 'made', 'for', 'it') });
    await connect(first).appendToStream('kept', jsonEvent({ type: 'Kept', data: {} }));
    await first.close();
    stores.length = 0;
    const second = await start({ dir: join(dir, 'made', 'for', 'it'), port: first.port });
    expect(second.connectionString).toBe(first.connectionString);
    expect(await typesIn(connect(second), 'kept')).toEqual(['Kept']);
    await second.close();
    stores.length = 0;
    rmSync(dir, { recursive: true, force: true });
  });

  it('is refused under NODE_ENV=production, and made none of its files', async () => {
    const dir = join(mkdtempSync(join(tmpdir(), 'rollcall-embedded-')), 'never');
    const before = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = 'production';
    try {
      await expect(EmbeddedEventStore.start({ dir })).rejects.toThrow('not for production');
    } finally {
      if (before === undefined) delete process.env['NODE_ENV'];
      else process.env['NODE_ENV'] = before;
    }
    expect(existsSync(dir)).toBe(false);
  });

  it('may be closed twice', async () => {
    const store = await start({ memory: true });
    await Promise.all([store.close(), store.close()]);
    await expect(store.close()).resolves.toBeUndefined();
  });

  it('says so when its port is taken', async () => {
    const { port } = await start({ memory: true });
    await expect(EmbeddedEventStore.start({ memory: true, port })).rejects.toThrow(`port ${port} is in use`);
  });
});
