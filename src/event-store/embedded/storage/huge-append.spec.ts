import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { AllCursor } from '../service/all-cursor.js';
import type { ReadableStream } from './stream-states.js';
import { EventLog } from './event-log.js';
import type { WriteOutcome } from './log-writer.js';
import { FIRST_POSITION } from './record-table.js';

const HUGE = 12_000;
let log: EventLog;
beforeEach(() => {
  log = EventLog.open(':memory:', Date.now);
});
afterEach(() => log.close());

const tiny = () => ({
  id: randomUUID(),
  type: 't',
  isJson: false,
  metadata: Buffer.alloc(0),
  data: Buffer.alloc(0),
});
function append(stream: string, count: number): Promise<WriteOutcome> {
  const events = Array.from({ length: count }, tiny);
  return log.write({ kind: 'append', stream: Buffer.from(stream), expected: { kind: 'any' }, events });
}
function countAll(): number {
  const cursor = new AllCursor(log, FIRST_POSITION, undefined, undefined);
  let count = 0;
  while (!cursor.atHead) count += cursor.page().length;
  return count;
}

/** What a reader finds in every turn that it gets while the write goes on. */
async function watch(stream: string, write: Promise<unknown>) {
  const seen: { readonly stream: ReadableStream; readonly all: number; readonly last: bigint | undefined }[] =
    [];
  let done = false;
  const over = write.then(() => undefined).catch(() => undefined);
  void over.then(() => (done = true));
  for (await setImmediate(); !done; await setImmediate()) {
    seen.push({
      stream: log.states.readable(Buffer.from(stream)),
      all: countAll(),
      last: log.lastPosition,
    });
  }
  return seen;
}

describe('an append of very many events', () => {
  it('lets others read meanwhile, who see nothing of it before it is committed', async () => {
    await append('old', 3);
    const before = { all: countAll(), last: log.lastPosition };
    const huge = append('huge', HUGE);
    const seen = await watch('huge', huge);
    expect(seen.length).toBeGreaterThanOrEqual(HUGE / 1_000 - 1);
    expect(new Set(seen.map((one) => one.stream.kind))).toEqual(new Set(['not-found']));
    expect(new Set(seen.map((one) => one.all))).toEqual(new Set([before.all]));
    expect(new Set(seen.map((one) => one.last))).toEqual(new Set([before.last]));
    expect(await huge).toMatchObject({ kind: 'written', revision: BigInt(HUGE - 1) });
    expect(log.states.readable(Buffer.from('huge'))).toMatchObject({
      kind: 'readable',
      last: BigInt(HUGE - 1),
    });
    expect(countAll()).toBe(before.all + HUGE);
  });

  it('to a stream that has events shows its old end until it is committed', async () => {
    await append('a', 2);
    log.states.forget();
    const seen = await watch('a', append('a', HUGE));
    expect(new Set(seen.map(({ stream }) => (stream.kind === 'readable' ? stream.last : -1n)))).toEqual(
      new Set([1n]),
    );
  });

  it('that fails in its middle leaves nothing', async () => {
    await append('a', 2);
    const pages = log.database.prepare('PRAGMA page_count').first([])?.[0];
    // Room for a few steps.
    log.database.prepare(`PRAGMA max_page_count = ${Number(pages) + 200}`).first([]);
    const before = countAll();
    const failing = append('a', HUGE);
    const seen = await watch('a', failing);
    await expect(failing).rejects.toThrow(/full/);
    log.database.prepare('PRAGMA max_page_count = 1000000').first([]);
    expect(new Set(seen.map((one) => one.all))).toEqual(new Set([before]));
    expect(countAll()).toBe(before);
    expect(await append('a', 1)).toMatchObject({ kind: 'written', revision: 2n });
  });

  it('is followed by those that came while it was written, in their order', async () => {
    const order: string[] = [];
    const first = append('huge', HUGE).then(() => order.push('huge'));
    await setImmediate();
    const others = ['b', 'c'].map((name) => append(name, 1).then(() => order.push(name)));
    await Promise.all([first, ...others]);
    expect(order).toEqual(['huge', 'b', 'c']);
  });

  it('is finished, not left, when the log is closed meanwhile', async () => {
    const huge = append('huge', HUGE);
    await setImmediate();
    log.close();
    expect(await huge).toMatchObject({ kind: 'written', revision: BigInt(HUGE - 1) });
    log = EventLog.open(':memory:', Date.now);
  });
});
