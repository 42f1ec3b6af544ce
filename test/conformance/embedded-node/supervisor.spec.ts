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

  it('outlives a parent that is killed, and the next parent replaces it', async () => {
    const { parent, first } = await supervise();
    parent.child.kill('SIGKILL');
    await exited(parent.child);
    expect(isAlive(first.pid)).toBe(true);
    const { first: second } = await supervise();
    expect(second.lines[0]).toContain(`stopping pid ${first.pid}`);
    await until('the orphan to be gone', () => !isAlive(first.pid));
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
