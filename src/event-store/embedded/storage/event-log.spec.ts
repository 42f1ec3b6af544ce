import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ProposedEvent } from '../protocol/recorded-event.js';
import { eventIdOf } from '../protocol/recorded-event.js';
import { EventLog } from './event-log.js';
import { LogVerification } from './log-verification.js';
import type { WriteOutcome } from './log-writer.js';
import { FIRST_POSITION, RECORD_HEADER, positionAfter } from './record-table.js';

const NOON = Date.UTC(2026, 0, 1, 12);
let log: EventLog;
let now: number;

beforeEach(() => {
  now = NOON;
  log = EventLog.open(':memory:', () => now);
});
afterEach(() => log.close());

function event(bytes = 100): ProposedEvent {
  const data = Buffer.alloc(bytes, 0x61);
  return { id: randomUUID(), type: 'Happened', isJson: false, metadata: Buffer.alloc(0), data };
}
function append(stream: string, events: readonly ProposedEvent[]): Promise<WriteOutcome> {
  return log.write({ kind: 'append', stream: Buffer.from(stream), expected: { kind: 'any' }, events });
}
function pageLimits(maximum?: bigint): bigint | undefined {
  const sql = maximum === undefined ? 'PRAGMA page_count' : `PRAGMA max_page_count = ${maximum}`;
  const row = log.database.prepare(sql).first([]);
  return typeof row?.[0] === 'bigint' ? row[0] : undefined;
}

describe('positions', () => {
  it('are byte offsets: each record begins where the one before it ends', async () => {
    await append('a', [event(10), event(500)]);
    await append('b', [event(70_000)]);
    let expected = FIRST_POSITION;
    while (expected < log.head) {
      const [record] = log.records.window(expected, 1n, 1);
      expect(record?.position).toBe(expected);
      expected += BigInt(record?.bytes.length ?? 0) + RECORD_HEADER;
    }
    expect(expected).toBe(log.head);
  });

  it('go on behind a write that failed, none given out twice', async () => {
    const before = log.head;
    pageLimits(pageLimits());
    await expect(
      append(
        'a',
        Array.from({ length: 200 }, () => event(5_000)),
      ),
    ).rejects.toThrow(/full/);
    expect(log.head).toBe(before);
    pageLimits(1_000_000n);
    expect(await append('a', [event()])).toEqual({ kind: 'written', revision: 0n, position: before });
  });
});

describe('a write that failed', () => {
  it('fails alone in its group and leaves names and revisions as they were', async () => {
    await append('kept', [event()]);
    pageLimits(pageLimits());
    const large = Array.from({ length: 100 }, () => event(9_000));
    const outcomes = await Promise.allSettled([
      append('new', large),
      append('kept', [event()]),
      append('kept', large),
      append('kept', [event()]),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    pageLimits(1_000_000n);
    expect(log.states.readable(Buffer.from('new'))).toEqual({ kind: 'not-found' });
    expect(await append('kept', [event()])).toMatchObject({ kind: 'written', revision: 3n });
    expect(await append('new', [event()])).toMatchObject({ kind: 'written', revision: 0n });
    new LogVerification(log).runFor(Number.POSITIVE_INFINITY, () => 0);
  });
});

describe('pages', () => {
  it('of a stream hold about as many bytes as asked for, and one record at least', async () => {
    for (let round = 0; round < 6; round += 1) await append('a', [event(50_000)]);
    const { id } = log.states.of(Buffer.from('a'));
    const page = (bytes: bigint) =>
      log.records.revisions(id ?? 0n, 0n, 5n, { direction: 'forwards', limit: 100, bytes }).length;
    expect([page(1n), page(60_000n), page(120_000n), page(10_000_000n)]).toEqual([1, 2, 3, 6]);
  });

  it('backwards begin with the newest and join without a gap', async () => {
    for (let round = 0; round < 30; round += 1) await append(`s${round}`, [event(1_000)]);
    const seen: bigint[] = [];
    for (let end = log.head; end > FIRST_POSITION;) {
      for (const record of log.records.windowBackwards(end, 2_500n, 100)) {
        expect(positionAfter(record)).toBe(end);
        seen.push(record.position);
        end = record.position;
      }
    }
    expect(seen).toHaveLength(35);
  });
});

describe('a record', () => {
  it('that was changed in the file is not served', async () => {
    await append('a', [event(), event()]);
    const { lastPosition } = log.states.of(Buffer.from('a'));
    log.database.prepare('UPDATE records SET revision = 7 WHERE position = ?').run([lastPosition]);
    expect(() => log.records.at(lastPosition)).toThrow(`the record at position ${lastPosition}`);
  });

  it('that is missing is noticed by its neighbours', async () => {
    await append('a', [event(), event(), event()]);
    const second = log.records.positionOf(log.states.of(Buffer.from('a')).id ?? 0n, 1n) ?? 0n;
    log.database.prepare('DELETE FROM records WHERE position = ?').run([second]);
    expect(() => log.records.window(FIRST_POSITION, 1_000_000n, 100)).toThrow(
      `between positions ${second} and`,
    );
    expect(() => new LogVerification(log).runFor(Number.POSITIVE_INFINITY, () => 0)).toThrow('are missing');
  });

  it('carries its id at a fixed place', async () => {
    const written = event();
    await append('a', [written]);
    const { lastPosition } = log.states.of(Buffer.from('a'));
    expect(eventIdOf(log.records.at(lastPosition)?.bytes ?? Buffer.alloc(0))).toBe(written.id);
  });
});

describe('the wake-up of readers', () => {
  it('comes once per commit, and when the reader leaves', async () => {
    const leaving = new AbortController();
    const woken = [log.signal.next(leaving.signal), log.signal.next(leaving.signal)];
    await append('a', [event()]);
    await Promise.all(woken);
    const abandoned = log.signal.next(leaving.signal);
    leaving.abort();
    await abandoned;
    await expect(log.signal.next(leaving.signal)).resolves.toBeUndefined();
  });
});
