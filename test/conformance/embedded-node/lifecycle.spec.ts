import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { START } from '@eventstore/db-client';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { RecordedSubscription, until } from '../recorded-subscription.js';
import { newStream, recordedIn, rejection, revisionsIn, sampleEvents } from '../sample-events.js';
import { RawClient, STREAMS, grpcFrame, rawSocket, readAnswer } from './raw-client.js';

const UNAVAILABLE = 14;

let dir: string;
const nodes: EmbeddedNodeProcess[] = [];
const clients: EventStoreDBClient[] = [];

async function start(port = 0): Promise<EmbeddedNodeProcess> {
  const node = await spawnEmbeddedNode(dir, port);
  nodes.push(node);
  return node;
}
function connect(node: EmbeddedNodeProcess): EventStoreDBClient {
  const client = connectTo(node.url);
  clients.push(client);
  return client;
}
async function stop(node: EmbeddedNodeProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  node.child.kill(signal);
  await exited(node.child);
}

beforeEach(() => {
  dir = temporaryDirectory();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.dispose()));
  await Promise.all(nodes.splice(0).map((node) => stop(node)));
  rmSync(dir, { recursive: true, force: true });
});

describe('a node that is stopped', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('by %s ends cleanly, soon, and leaves one file', async (signal) => {
    const node = await start();
    await connect(node).appendToStream(newStream(), sampleEvents(3));
    const before = Date.now();
    await stop(node, signal);
    expect(node.child.exitCode).toBe(0);
    expect(Date.now() - before).toBeLessThan(2_000);
    expect(readdirSync(dir)).toEqual(['eventstore.db']);
  });

  it('ends its subscriptions with unavailable', async () => {
    const node = await start();
    const subscription = new RecordedSubscription(connect(node).subscribeToAll({ fromPosition: START }));
    await subscription.caughtUp();
    await stop(node);
    await until('the subscription to end', () => subscription.errors.length > 0);
    expect(subscription.errors[0]).toMatchObject({ type: 'unavailable' });
  });

  it('ends the stream that carries appends with unavailable, not with success: a client would wait for ever', async () => {
    const node = await start();
    const raw = new RawClient(node.port);
    const stream = raw.open(`${STREAMS}/BatchAppend`);
    const answer = readAnswer(stream);
    stream.write(grpcFrame(Buffer.alloc(0)));
    await connect(node).appendToStream(newStream(), sampleEvents(1));
    await stop(node);
    expect((await answer).status).toBe(UNAVAILABLE);
    raw.close();
  });

  it('ends subscriptions that nobody reads, in time', async () => {
    const node = await start();
    const client = connect(node);
    for (let round = 0; round < 20; round += 1) await client.appendToStream(newStream(), sampleEvents(200));
    const paused = client.subscribeToAll({ fromPosition: START });
    paused.on('error', () => undefined).pause();
    await client.appendToStream(newStream(), sampleEvents(1));
    const before = Date.now();
    await stop(node);
    expect(Date.now() - before).toBeLessThan(2_000);
  });

  it('is done within a second or two beside a peer that never reads nor closes', async () => {
    const node = await start();
    const socket = await rawSocket(node.port);
    socket.on('error', () => undefined).pause();
    const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), emptySettings]));
    await connect(node).appendToStream(newStream(), sampleEvents(1));
    const before = Date.now();
    await stop(node);
    expect(Date.now() - before).toBeLessThan(2_000);
    socket.destroy();
  });

  it('is found again by a client on the same port, with everything it had acknowledged', async () => {
    const first = await start();
    const client = connect(first);
    const stream = newStream();
    await client.appendToStream(stream, sampleEvents(4));
    await stop(first);
    await start(first.port);
    await rejection(client.appendToStream(stream, sampleEvents(1), { expectedRevision: 3n })).catch(
      () => undefined,
    );
    expect((await revisionsIn(client.readStream(stream))).slice(0, 4)).toEqual([0n, 1n, 2n, 3n]);
  });

  it('never gives out a position twice', async () => {
    const first = await start();
    const before = await connect(first).appendToStream(newStream(), sampleEvents(2));
    await stop(first, 'SIGKILL');
    const after = await connect(await start()).appendToStream(newStream(), sampleEvents(1));
    expect(after.position?.commit ?? 0n).toBeGreaterThan(before.position?.commit ?? 0n);
  });
});

describe('a directory', () => {
  it('belongs to one node at a time, and the second says so', async () => {
    await start();
    await expect(start()).rejects.toThrow(/eventstore\.db is open in another process$/);
  });

  it('that is being written to is not mistaken for a damaged one', async () => {
    const node = await start();
    const client = connect(node);
    let refusals = 0;
    const writing = Array.from({ length: 16 }, async () => {
      const stream = newStream();
      while (refusals < 8) await client.appendToStream(stream, sampleEvents(5));
    });
    for (; refusals < 8; refusals += 1) {
      await expect(start()).rejects.toThrow(/eventstore\.db is open in another process$/);
    }
    await Promise.all(writing);
  }, 30_000);

  it('is free at once after the node was killed', async () => {
    await stop(await start(), 'SIGKILL');
    await expect(start()).resolves.toMatchObject({ port: expect.any(Number) });
  });

  it('names its node while it runs', async () => {
    const node = await start();
    const record: unknown = JSON.parse(readFileSync(join(dir, 'eventstore.pid'), 'utf8'));
    expect(record).toMatchObject({ pid: node.pid, port: node.port });
    await stop(node);
    expect(existsSync(join(dir, 'eventstore.pid'))).toBe(false);
  });
});

describe('a start', () => {
  it('is refused on a port that is taken', async () => {
    const node = await start();
    const other = temporaryDirectory();
    await expect(spawnEmbeddedNode(other, node.port)).rejects.toThrow(`port ${node.port} is in use`);
    rmSync(other, { recursive: true, force: true });
  });

  it('on an empty directory begins with system events, none at position 0', async () => {
    const events = await recordedIn(connect(await start()).readAll());
    expect(events.length).toBeGreaterThanOrEqual(5);
    expect(events.every((event) => event.streamId.startsWith('$'))).toBe(true);
    expect(events[0]?.position?.commit ?? 0n).toBeGreaterThan(0n);
  });

  it('on a directory that was used adds none', async () => {
    const first = await start();
    const before = await recordedIn(connect(first).readAll());
    await stop(first);
    expect(await recordedIn(connect(await start()).readAll())).toHaveLength(before.length);
  });
});
