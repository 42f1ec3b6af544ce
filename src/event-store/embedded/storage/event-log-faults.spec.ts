import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DamagedLogError } from './checksum.js';
import { EventLog } from './event-log.js';
import type { WriteOutcome } from './log-writer.js';

let dir: string;
let log: EventLog;
let faults: unknown[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollcall-faults-'));
  faults = [];
  open();
});
afterEach(() => {
  log.close();
  rmSync(dir, { recursive: true, force: true });
});

function open(): void {
  log = EventLog.open(join(dir, 'eventstore.db'), Date.now, (error) => faults.push(error));
}
function append(stream: string, data = '{}'): Promise<WriteOutcome> {
  const type = stream.startsWith('$$') ? '$metadata' : 'Happened';
  const event = {
    id: randomUUID(),
    type,
    isJson: true,
    metadata: Buffer.alloc(0),
    data: Buffer.from(data),
  };
  return log.write({
    kind: 'append',
    stream: Buffer.from(stream),
    expected: { kind: 'any' },
    events: [event],
  });
}
function damageNewestOf(stream: string): bigint {
  const { lastPosition } = log.states.of(Buffer.from(stream));
  log.database.prepare('UPDATE records SET created = created + 1 WHERE position = ?').run([lastPosition]);
  return lastPosition;
}

describe('a write to a stream whose metadata is damaged', () => {
  it('fails alone, though others share its commit, and the node is told why', async () => {
    await append('$$bad', '{"$maxCount":3}');
    await append('newer');
    const position = damageNewestOf('$$bad');
    log.close();
    open();
    const outcomes = await Promise.allSettled(['a', 'bad', 'b', 'a'].map((stream) => append(stream)));
    const damage = new DamagedLogError(`the record at position ${position} does not match its checksum`);
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: expect.objectContaining({ revision: 0n }) },
      { status: 'rejected', reason: damage },
      { status: 'fulfilled', value: expect.objectContaining({ revision: 0n }) },
      { status: 'fulfilled', value: expect.objectContaining({ revision: 1n }) },
    ]);
    expect(faults).toEqual([damage]);
  });
});
