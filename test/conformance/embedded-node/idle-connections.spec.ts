import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { newStream, sampleEvents } from '../sample-events.js';
import { rawSocket } from './raw-client.js';

const CONNECTIONS = 2_000;
/** A small heap, so that what is garbage is collected and what grows is a leak. */
const SMALL_HEAP = ['--max-old-space-size=48', '--max-semi-space-size=1'];
const ALLOWED_GROWTH_MB = 40;
/** The preface of HTTP/2 and an empty SETTINGS frame. */
const HELLO = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');

let dir: string;
let node: EmbeddedNodeProcess;

beforeAll(async () => {
  dir = temporaryDirectory();
  node = await spawnEmbeddedNode(dir, 0, SMALL_HEAP);
});
afterAll(async () => {
  node.child.kill('SIGTERM');
  await exited(node.child);
  rmSync(dir, { recursive: true, force: true });
});

function memory(): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'));
  return Number(match?.[1] ?? 0) / 1024;
}

function greeted(socket: Socket): Promise<void> {
  return new Promise((settle) => {
    socket.on('error', () => undefined).once('data', () => settle());
    socket.write(HELLO);
  });
}

async function idleRound(): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => rawSocket(node.port)));
  await Promise.all(sockets.map(greeted));
  const client = connectTo(node.url);
  await client.appendToStream(newStream(), sampleEvents(1));
  await client.dispose();
  const closed = sockets.map((socket) => new Promise((settle) => socket.once('close', settle)));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
}

describe('two thousand idle connections', () => {
  it('do not keep others from appending, and leave no memory behind', async () => {
    await idleRound();
    await idleRound();
    const before = memory();
    for (let round = 0; round < 3; round += 1) await idleRound();
    expect(memory() - before).toBeLessThan(ALLOWED_GROWTH_MB);
  }, 60_000);
});
