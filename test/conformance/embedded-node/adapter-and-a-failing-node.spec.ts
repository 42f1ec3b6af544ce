import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LogUnavailable } from '../../../src/event-store/errors.js';
import { EventLog } from '../../../src/event-store/event-log.js';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { until } from '../recorded-subscription.js';
import { encodedEvents, newStream, rejection } from '../sample-events.js';
import { runScript } from './built-module.js';

let dir: string;
let node: EmbeddedNodeProcess;
let log: EventLog;
const adapter = pathToFileURL(resolve('dist/src/event-store/event-log.js')).href;

beforeEach(async () => {
  dir = temporaryDirectory();
  node = await spawnEmbeddedNode(dir);
  log = new EventLog(node.url);
});
afterEach(async () => {
  await log.close();
  await stop('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

async function stop(signal: NodeJS.Signals): Promise<void> {
  node.child.kill(signal);
  await exited(node.child);
}
async function restart(signal: NodeJS.Signals): Promise<void> {
  await stop(signal);
  node = await spawnEmbeddedNode(dir, node.port);
}
async function revisions(stream: string): Promise<bigint[]> {
  const found: bigint[] = [];
  for await (const event of log.read(stream)) found.push(event.revision);
  return found;
}

describe('the adapter beside a node that fails', () => {
  it('has each of many large appends in once, though the node is killed under them again and again', async () => {
    const writer = runScript(
      'pid-file',
      `process.on('unhandledRejection', (reason) => print({ stray: String(reason?.stack ?? reason) }));
       const { EventLog } = await import(${JSON.stringify(adapter)});
       const { randomUUID } = await import('node:crypto');
       const log = new EventLog(${JSON.stringify(node.url)});
       const metadata = { schema: 1, actor: 'system:test' };
       const event = () => ({
         id: randomUUID(), type: 'Large', data: { text: 'x'.repeat(20_000) }, metadata, bytes: 20_100,
       });
       const streams = Array.from({ length: 100 }, () => 'large-' + randomUUID());
       print({ begun: true });
       await Promise.all(streams.map(async (stream) => {
         for (let revision = 0n; revision < 10n; revision += 1n) {
           const appended = await log.append(stream, [event()], revision === 0n ? 'no-stream' : revision - 1n);
           if (appended.revision !== revision) throw new Error(JSON.stringify(appended.outcome));
         }
       }));
       await log.close();
       print({ streams });`,
    );
    expect(await writer.next()).toEqual({ begun: true });
    for (let round = 0; round < 3; round += 1) await restart('SIGKILL');
    // The next line would be a rejection that nobody handled, if there was one: it ends a process.
    const end = await writer.next();
    expect(end).toEqual({ streams: expect.any(Array) });
    const ten = Array.from({ length: 10 }, (_, index) => BigInt(index));
    for (const stream of (end as { streams: string[] }).streams) expect(await revisions(stream)).toEqual(ten);
  }, 90_000);

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'hears the end of what it follows when it ends by %s',
    async (signal) => {
      let caughtUp = false;
      const feed = log.follow(null, ['followed-'], {
        event: () => undefined,
        passed: () => undefined,
        caughtUp: () => (caughtUp = true),
      });
      await until('the feed to catch up', () => caughtUp);
      await stop(signal);
      expect(await feed.ended).toBeInstanceOf(Error);
    },
  );

  it('does not wait for a node that stands still', async () => {
    await log.append(newStream(), encodedEvents(1), 'no-stream');
    node.child.kill('SIGSTOP');
    const begin = performance.now();
    const refused = await Promise.all([
      rejection(log.append(newStream(), encodedEvents(1), 'no-stream')),
      rejection(log.head()),
    ]);
    expect(refused.map((error) => error instanceof LogUnavailable)).toEqual([true, true]);
    expect(performance.now() - begin).toBeLessThan(20_000);
    node.child.kill('SIGCONT');
  }, 60_000);

  it('lets its process end once it is closed, whatever was left early or open', async () => {
    const script = runScript(
      'pid-file',
      `const { EventLog } = await import(${JSON.stringify(adapter)});
       const log = new EventLog(${JSON.stringify(node.url)});
       await log.head();
       let caughtUp;
       const live = new Promise((settle) => { caughtUp = settle; });
       const feed = log.follow(null, ['x-'], { event() {}, passed() {}, caughtUp });
       await live;
       for await (const event of log.read('$users')) break;
       await feed.stop();
       await log.close();
       print({ closed: true });`,
    );
    expect(await script.next()).toEqual({ closed: true });
    await exited(script.child);
    expect(script.child.exitCode).toBe(0);
  });
});
