import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { forgetDamage, notedDamage } from '../../../src/event-store/embedded/damage-note.js';
import { EventLog } from '../../../src/event-store/embedded/storage/event-log.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { runScript } from './built-module.js';
import { newStream, recordedIn, rejection, sampleEvents } from '../sample-events.js';

const APPENDS = 60;
let dir: string;
let file: string;

beforeEach(() => {
  dir = temporaryDirectory();
  file = join(dir, 'eventstore.db');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Fills a fresh directory and ends the node; answers how many events were acknowledged. */
async function fill(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  const node = await spawnEmbeddedNode(dir);
  const client = connectTo(node.url);
  for (let round = 0; round < APPENDS; round += 1) await client.appendToStream(newStream(), sampleEvents(10));
  await client.dispose();
  node.child.kill(signal);
  await exited(node.child);
  return APPENDS * 10;
}

async function countAfterStart(): Promise<number> {
  const node = await spawnEmbeddedNode(dir);
  const client = connectTo(node.url);
  try {
    return await countBothWays(client);
  } finally {
    await client.dispose();
    node.child.kill('SIGTERM');
    await exited(node.child);
  }
}

/** How many events the whole log holds. Each is also looked for in its stream, which takes other pages of the file. */
async function countBothWays(client: EventStoreDBClient): Promise<number> {
  const events = await recordedIn(client.readAll());
  const ours = events.filter((event) => !event.streamId.startsWith('$'));
  const inStreams: string[] = [];
  for (const stream of new Set(ours.map((event) => event.streamId))) {
    for (const event of await recordedIn(client.readStream(stream))) inStreams.push(event.id);
  }
  expect(inStreams.toSorted()).toEqual(ours.map((event) => event.id).toSorted());
  return ours.length;
}

function flipByte(path: string, at: number): void {
  const byte = readFileSync(path)[at] ?? 0;
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, Buffer.of(byte ^ 0x20), 0, 1, at);
  closeSync(descriptor);
}

describe('a data file with a damaged byte', () => {
  it('inside an event is refused, naming the position', async () => {
    await fill('SIGTERM');
    const at = readFileSync(file).indexOf('SampleHappened', statSync(file).size / 2);
    flipByte(file, at);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(
      /damaged: the record at position \d+ does not match/,
    );
  });

  it('anywhere is refused or harmless: no event is lost or changed in silence', async () => {
    const acknowledged = await fill('SIGTERM');
    const whole = readFileSync(file);
    const outcomes: unknown[] = [];
    for (let part = 1; part < 12; part += 1) {
      writeFileSync(file, whole);
      flipByte(file, Math.floor((whole.length * part) / 12));
      const outcome = await countAfterStart().catch((error: unknown) => error);
      // On a busy machine a start has no time to check all, and the node ends when it finds the rest of it damaged.
      const found = notedDamage(dir);
      forgetDamage(dir);
      outcomes.push(found ?? (outcome instanceof Error ? outcome.message : outcome));
    }
    const wrong = outcomes.filter(
      (outcome) => outcome !== acknowledged && !/is damaged: /.test(String(outcome)),
    );
    expect(wrong).toEqual([]);
  }, 60_000);

  it('in its header is refused', async () => {
    await fill('SIGTERM');
    flipByte(file, 5);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(/damaged/);
  });

  it('is refused when its end is missing', async () => {
    await fill('SIGTERM');
    truncateSync(file, statSync(file).size - 20_000);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(/damaged/);
  });
});

describe('the write-ahead log that a killed node left', () => {
  it('gives everything that was acknowledged', async () => {
    const acknowledged = await fill('SIGKILL');
    expect(await countAfterStart()).toBe(acknowledged);
  });

  it('torn in a write that was never acknowledged is cut there', async () => {
    const acknowledged = await fill('SIGKILL');
    const wal = readFileSync(`${file}-wal`);
    // The beginning of one more frame of the same log, as a write leaves it that a crash interrupts.
    appendFileSync(`${file}-wal`, wal.subarray(32, 32 + 1_500));
    expect(await countAfterStart()).toBe(acknowledged);
  });

  it.each([0, 10, 18, 26])('damaged in its header at byte %s is refused', async (at) => {
    await fill('SIGKILL');
    flipByte(`${file}-wal`, at);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(/damaged: .*-wal, the header at byte 0/);
  });

  it('damaged in its middle is refused, naming the byte', async () => {
    await fill('SIGKILL');
    flipByte(`${file}-wal`, Math.floor(statSync(`${file}-wal`).size / 2));
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(
      /damaged: .*eventstore\.db-wal, frame \d+ at byte \d+/,
    );
  });
});

describe('acknowledged events', () => {
  const lost = /damaged: the log ends at position \d+, but events before position \d+ were acknowledged/;
  const FRAME = 24 + 4_096;

  it.each([1, 3, 40])('whose last %s frames were cut from the write-ahead log are missed', async (frames) => {
    await fill('SIGKILL');
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - frames * FRAME);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(lost);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(lost);
  });

  it('whose last commit was damaged so that it looks torn are missed', async () => {
    await fill('SIGKILL');
    flipByte(`${file}-wal`, statSync(`${file}-wal`).size - 100);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(lost);
  });

  it.each([
    ['removed', (wal: string) => rmSync(wal)],
    ['emptied', (wal: string) => truncateSync(wal)],
    ['filled with zeros', (wal: string) => writeFileSync(wal, Buffer.alloc(50_000))],
  ])('are missed when the write-ahead log was %s', async (_how, change) => {
    await fill('SIGKILL');
    change(`${file}-wal`);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(lost);
  });

  it('are not vouched for by a damaged mark', async () => {
    await fill('SIGKILL');
    flipByte(join(dir, 'eventstore.acknowledged'), 18);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(
      /damaged: .*eventstore\.acknowledged holds no position/,
    );
  });

  it('that are lost can be given up by removing the mark', async () => {
    const acknowledged = await fill('SIGKILL');
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - FRAME);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(lost);
    rmSync(join(dir, 'eventstore.acknowledged'));
    expect(await countAfterStart()).toBe(acknowledged - 10);
  });
});

describe('a start that is refused', () => {
  const frames = (count: number) => count * (24 + 4_096);
  const contents = () =>
    ['eventstore.db', 'eventstore.db-wal', 'eventstore.acknowledged'].map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex'),
    ]);
  const cut = (bytes: number) => truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - bytes);
  const damageRecord = () =>
    flipByte(file, readFileSync(file).indexOf('SampleHappened', statSync(file).size / 2));
  const damageFirstFrame = () => {
    truncateSync(`${file}-wal`, 32 + frames(3));
    flipByte(`${file}-wal`, 100);
  };

  it.each([
    ['whose write-ahead log was cut', () => cut(frames(3))],
    ['whose write-ahead log holds nothing whole', damageFirstFrame],
    ['with a damaged record', damageRecord],
  ])('over a log %s changes none of its files', async (_what, damage) => {
    await fill('SIGTERM');
    await fill('SIGKILL');
    damage();
    const before = contents();
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(/damaged: /);
    expect(contents()).toEqual(before);
  });

  it('inside a process that goes on until it has nothing to do changes none of its files', async () => {
    await fill('SIGTERM');
    await fill('SIGKILL');
    cut(frames(3));
    const before = contents();
    const script = runScript(
      'index',
      `try { await embedded.EmbeddedEventStore.start({ dir: ${JSON.stringify(dir)} }); }
       catch (error) { print(error.message); }`,
    );
    expect(await script.next()).toMatch(/were acknowledged/);
    script.child.stdin?.end();
    await exited(script.child);
    expect(contents()).toEqual(before);
  });
});

describe('damage that is met while the node runs', () => {
  const event = () => ({ id: randomUUID(), type: 'SampleHappened', isJson: true, metadata: Buffer.alloc(0) });
  const append = (log: EventLog, stream: string) =>
    log.write({
      kind: 'append',
      stream: Buffer.from(stream),
      expected: { kind: 'any' },
      events: Array.from({ length: 200 }, () => ({ ...event(), data: Buffer.alloc(4_000, stream) })),
    });

  it('by a read is told to the reader, ends the node, and has the next start check everything', async () => {
    // So much that the check, which begins at the newest, takes long to get to the oldest.
    const log = EventLog.open(file, Date.now);
    for (let round = 0; round < 120; round += 1) await append(log, round === 0 ? 'oldest' : 'other');
    log.close();
    flipByte(file, readFileSync(file).indexOf('oldest'.repeat(20)));
    const node = await spawnEmbeddedNode(dir);
    const client = connectTo(node.url);
    const answer = await rejection(recordedIn(client.readStream('oldest'))).finally(() => client.dispose());
    // A node that goes on is ended here, and its exit code says so.
    const goesOn = setTimeout(() => node.child.kill('SIGKILL'), 5_000);
    await exited(node.child);
    clearTimeout(goesOn);
    expect(String(answer)).toMatch(/DATA_LOSS.*damaged/);
    expect(node.child.exitCode).toBe(1);
    expect(notedDamage(dir)).toMatch(/damaged: /);
    expect(existsSync(join(dir, 'eventstore.pid'))).toBe(false);
    await expect(spawnEmbeddedNode(dir)).rejects.toThrow(/damaged: /);
  });
});
