import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EventLog } from '../../../src/event-store/embedded/storage/event-log.js';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { until } from '../recorded-subscription.js';
import { runScript } from './built-module.js';
import { newStream, recordedIn, revisionsIn, sampleEvents } from '../sample-events.js';

let root: string;
let dir: string;
let target: string;
const nodes: EmbeddedNodeProcess[] = [];

beforeEach(() => {
  root = temporaryDirectory();
  [dir, target] = [join(root, 'data'), join(root, 'backup.db')];
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await stop(node);
  rmSync(root, { recursive: true, force: true });
});

async function start(where: string): Promise<EmbeddedNodeProcess> {
  const node = await spawnEmbeddedNode(where);
  nodes.push(node);
  return node;
}
async function stop(node: EmbeddedNodeProcess): Promise<void> {
  node.child.kill('SIGTERM');
  await exited(node.child);
}
/** In a process of its own, as the command line does it. */
async function backup(fileLimitKiB?: number): Promise<{ events: bigint; position: bigint }> {
  const script = runScript(
    'backup',
    `const { events, position } = await embedded.backupEmbeddedEventStore(
       ${JSON.stringify(dir)}, ${JSON.stringify(target)}, new AbortController().signal);
     print([String(events), String(position)]);`,
    fileLimitKiB,
  );
  const [events, position] = (await script.next()) as [string, string];
  return { events: BigInt(events), position: BigInt(position) };
}
async function fillWith(events: number, bytes: number): Promise<void> {
  mkdirSync(dir);
  const log = EventLog.open(join(dir, 'eventstore.db'), Date.now);
  const event = () => ({ id: randomUUID(), type: 'T', isJson: false, metadata: Buffer.alloc(0) });
  for (let written = 0; written < events; written += 100) {
    const batch = Array.from({ length: 100 }, () => ({ ...event(), data: Buffer.alloc(bytes) }));
    await log.write({ kind: 'append', stream: Buffer.from('s'), expected: { kind: 'any' }, events: batch });
  }
  log.close();
}
async function restore(): Promise<EmbeddedNodeProcess> {
  const restored = join(root, 'restored');
  mkdirSync(restored);
  copyFileSync(target, join(restored, 'eventstore.db'));
  return start(restored);
}

describe('a backup', () => {
  it('of a running node restores to the same events at the same positions', async () => {
    const client = connectTo((await start(dir)).url);
    for (let round = 0; round < 20; round += 1) await client.appendToStream(newStream(), sampleEvents(50));
    const before = await recordedIn(client.readAll());
    const report = await backup();
    expect(report.events).toBe(BigInt(before.length));
    expect(report.position).toBe(before.at(-1)?.position?.commit);
    const restored = connectTo((await restore()).url);
    expect(await recordedIn(restored.readAll())).toEqual(before);
    await Promise.all([client.dispose(), restored.dispose()]);
  });

  it('does not stop appends, and holds a whole beginning of the log', async () => {
    const client = connectTo((await start(dir)).url);
    const stream = newStream();
    for (let round = 0; round < 10; round += 1) await client.appendToStream(stream, sampleEvents(300));
    let finished = false;
    const writing = (async () => {
      let appends = 0;
      for (; !finished; appends += 1) await client.appendToStream(stream, sampleEvents(1));
      return appends;
    })();
    await backup();
    finished = true;
    expect(await writing).toBeGreaterThan(0);
    const restored = connectTo((await restore()).url);
    const revisions = await revisionsIn(restored.readStream(stream));
    expect(revisions).toEqual(revisions.map((_, index) => BigInt(index)));
    expect(revisions.length).toBeGreaterThanOrEqual(3_000);
    await Promise.all([client.dispose(), restored.dispose()]);
  });

  it('of a stopped node is taken from its file', async () => {
    const node = await start(dir);
    const client = connectTo(node.url);
    await client.appendToStream(newStream(), sampleEvents(5));
    await client.dispose();
    await stop(node);
    expect((await backup()).events).toBeGreaterThanOrEqual(10n);
  });

  it('that does not fit on its disk is no success, and leaves nothing there', async () => {
    await fillWith(1_400, 4_000);
    // Most of the copy fits: only the last part of its write-ahead log cannot be brought into it.
    await expect(backup(5 * 1_024)).rejects.toThrow();
    expect(readdirSync(root)).toEqual(['data']);
    expect((await backup()).events).toBe(1_405n);
  });

  it('beside another to the same file: one of them is whole, and the other says that it came too late', async () => {
    await fillWith(2_000, 4_000);
    await start(dir);
    const script = runScript(
      'backup',
      `const backup = () => embedded.backupEmbeddedEventStore(
         ${JSON.stringify(dir)}, ${JSON.stringify(target)}, new AbortController().signal);
       const outcomes = await Promise.allSettled([backup(), backup()]);
       print(outcomes.map(({ value, reason }) => reason?.message ?? String(value.events)));`,
    );
    const outcomes = (await script.next()) as string[];
    expect(outcomes.toSorted()).toEqual([`${target} exists already`, '2005']);
    expect(readdirSync(root).toSorted()).toEqual(['backup.db', 'data']);
    const restored = connectTo((await restore()).url);
    expect(await revisionsIn(restored.readStream('s'))).toHaveLength(2_000);
    await restored.dispose();
  });

  describe('that is given up', () => {
    const begun = () => readdirSync(root).some((name) => name.endsWith('.partial'));
    const onlyTheData = () => readdirSync(root).join() === 'data';
    const givenUp = () =>
      runScript(
        'backup',
        `const { readdirSync } = await import('node:fs');
         const giving = new AbortController();
         const watch = setInterval(() => {
           if (readdirSync(${JSON.stringify(root)}).some((name) => name.endsWith('.partial'))) giving.abort();
         }, 1);
         await embedded.backupEmbeddedEventStore(
           ${JSON.stringify(dir)}, ${JSON.stringify(target)}, giving.signal).finally(() => clearInterval(watch));
         print('done');`,
      ).next();
    beforeEach(() => fillWith(12_000, 4_000));

    it('leaves nothing behind of a running node', async () => {
      await start(dir);
      await expect(givenUp()).rejects.toThrow('the backup was given up');
      await until('the rest of it to be gone', onlyTheData);
    });

    it('leaves nothing behind of a file', async () => {
      await expect(givenUp()).rejects.toThrow('the copy was given up');
      expect(onlyTheData()).toBe(true);
    });

    it('by the death of its caller is ended by the node', async () => {
      await start(dir);
      const script = runScript(
        'backup',
        `await embedded.backupEmbeddedEventStore(
           ${JSON.stringify(dir)}, ${JSON.stringify(target)}, new AbortController().signal);`,
      );
      await until('the backup to begin', begun);
      script.child.kill('SIGKILL');
      await until('the rest of it to be gone', onlyTheData);
    });
  });

  it('never overwrites a file', async () => {
    await start(dir);
    writeFileSync(target, 'precious');
    await expect(backup()).rejects.toThrow('exists already');
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  it('of a directory without an event store is refused', async () => {
    await expect(backup()).rejects.toThrow('there is no event store in');
    expect(existsSync(target)).toBe(false);
  });

  it('is refused to who cannot read the directory', async () => {
    const node = await start(dir);
    writeFileSync(
      join(dir, 'eventstore.pid'),
      JSON.stringify({ pid: node.pid, port: node.port, token: 'guess' }),
    );
    await expect(backup()).rejects.toThrow('Access Denied');
    expect(existsSync(target)).toBe(false);
  });
});
