import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { EventLog } from './event-log.js';
import { LogScrub } from './log-scrub.js';

let log: EventLog;
beforeEach(async () => {
  log = EventLog.open(':memory:', Date.now);
  const events = Array.from({ length: 600 }, () => ({
    id: randomUUID(),
    type: 'Happened',
    isJson: true,
    metadata: Buffer.alloc(0),
    data: Buffer.alloc(500, 0x20),
  }));
  await log.write({ kind: 'append', stream: Buffer.from('a'), expected: { kind: 'any' }, events });
});
afterEach(() => log.close());

function damageOldest(): void {
  log.database
    .prepare('UPDATE records SET created = created + 1 WHERE revision = ? AND stream = ?')
    .run([3n, log.states.of(Buffer.from('a')).id ?? 0n]);
}

describe('checking a log at its start', () => {
  it('begins with the newest events and goes on behind the start', async () => {
    damageOldest();
    const scrub = new LogScrub(log, 0);
    scrub.checkNewest();
    scrub.continueInBackground();
    expect((await scrub.damaged).message).toMatch(/damaged: the record at position \d+ does not match/);
  });

  it('of everything rejects at the first damage', async () => {
    damageOldest();
    await expect(new LogScrub(log, 0).checkEverything(() => undefined)).rejects.toThrow(
      'does not match its checksum',
    );
  });

  it('of everything tells how far it is, up to the end', async () => {
    const parts: number[] = [];
    await new LogScrub(log, 0).checkEverything((part) => parts.push(part));
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(parts.at(-1)).toBe(1);
  });

  it('of a whole log ends', () => {
    const scrub = new LogScrub(log, 10_000);
    expect(() => scrub.checkNewest()).not.toThrow();
    scrub.continueInBackground();
    scrub.stop();
  });
});
