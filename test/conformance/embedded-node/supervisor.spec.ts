import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { until } from '../recorded-subscription.js';
import { newStream, revisionsIn, sampleEvents } from '../sample-events.js';
import type { ScriptProcess } from './built-module.js';
import { runScript } from './built-module.js';

let dir: string;
const parents: ScriptProcess[] = [];

beforeEach(() => {
  dir = temporaryDirectory();
});
afterEach(async () => {
  for (const parent of parents.splice(0)) {
    parent.child.stdin?.end();
    await exited(parent.child);
  }
  rmSync(dir, { recursive: true, force: true });
});

/** A parent that supervises a node until its stdin closes; it prints what it logs, and each new pid. */
async function supervise(port = 0) {
  const parent = runScript(
    'supervisor',
    `const lines = [];
     const node = await embedded.superviseEmbeddedEventStore({
       dir: ${JSON.stringify(dir)}, port: ${port}, log: (line) => lines.push(line) });
     let pid = node.pid();
     print({ pid, url: node.connectionString, lines });
     const watch = setInterval(() => {
       if (node.pid() !== pid) print({ pid: pid = node.pid(), url: node.connectionString, lines });
     }, 10);
     process.stdin.resume().once('end', async () => {
       clearInterval(watch);
       await node.stop();
       print({ pid, url: node.connectionString, lines });
     });`,
  );
  parents.push(parent);
  const state = async () => (await parent.next()) as { pid: number; url: string; lines: string[] };
  return { parent, state, first: await state() };
}
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a supervised node', () => {
  it('is started again on the same port when it dies, with its events', async () => {
    const { first, state } = await supervise();
    const client = connectTo(first.url);
    const stream = newStream();
    await client.appendToStream(stream, sampleEvents(2));
    await client.dispose();
    process.kill(first.pid, 'SIGKILL');
    const second = await state();
    expect(second.url).toBe(first.url);
    expect(second.pid).not.toBe(first.pid);
    expect(second.lines.some((line) => line.includes('starting again'))).toBe(true);
    const again = connectTo(second.url);
    expect(await revisionsIn(again.readStream(stream))).toEqual([0n, 1n]);
    await again.dispose();
  });

  it('stays stopped once it was stopped', async () => {
    const { parent, first, state } = await supervise();
    parent.child.stdin?.end();
    const last = await state();
    expect(isAlive(first.pid)).toBe(false);
    expect(last.lines.some((line) => line.includes('starting again'))).toBe(false);
  });

  it('that died and cannot start again is not signalled by a stop: its pid may be a stranger’s', async () => {
    const parent = runScript(
      'supervisor',
      `const { createServer } = await import('node:net');
       const lines = [];
       const node = await embedded.superviseEmbeddedEventStore({
         dir: ${JSON.stringify(dir)}, log: (line) => lines.push(line) });
       const pid = node.pid();
       const port = Number(new URL(node.connectionString).port);
       process.kill(pid, 'SIGKILL');
       const taken = createServer();
       const take = () => new Promise((settle) => {
         taken.once('error', () => settle(setTimeout(() => take().then(settle), 5)));
         taken.listen(port, '127.0.0.1', settle);
       });
       await take();
       const limit = Date.now() + 10_000;
       while (!lines.some((line) => line.includes('is in use')) && Date.now() < limit)
         await new Promise((settle) => setTimeout(settle, 10));
       const signalled = [];
       const kill = process.kill.bind(process);
       process.kill = (target, signal) => { if (target === pid) signalled.push(signal); return kill(target, signal); };
       await node.stop();
       taken.close();
       print({ signalled, refused: lines.some((line) => line.includes('is in use')) });`,
    );
    parents.push(parent);
    expect(await parent.next()).toEqual({ signalled: [], refused: true });
  });

  it('outlives a parent that is killed, and the next parent replaces it', async () => {
    const { parent, first } = await supervise();
    parent.child.kill('SIGKILL');
    await exited(parent.child);
    expect(isAlive(first.pid)).toBe(true);
    const { first: second } = await supervise();
    expect(second.lines[0]).toContain(`stopping pid ${first.pid}`);
    await until('the orphan to be gone', () => !isAlive(first.pid));
  });

  it('survives a parent that dies while it starts', async () => {
    const node = await spawnEmbeddedNode(dir, 0, [], (child) => child.disconnect());
    const client = connectTo(node.url);
    await client.appendToStream(newStream(), sampleEvents(1));
    await client.dispose();
    expect(node.child.exitCode).toBeNull();
    node.child.kill('SIGTERM');
    await exited(node.child);
  });

  it('that cannot start says why', async () => {
    const other = temporaryDirectory();
    const occupied = await spawnEmbeddedNode(other);
    await expect(supervise(occupied.port)).rejects.toThrow(`port ${occupied.port} is in use`);
    occupied.child.kill('SIGTERM');
    await exited(occupied.child);
    rmSync(other, { recursive: true, force: true });
  });
});
