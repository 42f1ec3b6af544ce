import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcknowledgedMark } from './acknowledged-mark.js';
import { DamagedLogError } from './checksum.js';
import { EventLog } from './event-log.js';
import { copyLog } from './log-copy.js';
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

describe('a mark that cannot be written', () => {
  it('fails no write that is on disk, wakes its readers, and is told to the node', async () => {
    const broken = new Error('no space for the mark');
    const note = jest.spyOn(AcknowledgedMark.prototype, 'note').mockImplementation(() => {
      throw broken;
    });
    try {
      const woken = log.signal.next(new AbortController().signal);
      expect(await append('a')).toMatchObject({ kind: 'written', revision: 0n });
      await woken;
      expect(log.states.readable(Buffer.from('a'))).toMatchObject({ kind: 'readable', last: 0n });
      expect(faults).toEqual([broken]);
    } finally {
      note.mockRestore();
    }
  });
});

describe('a stored value of another type than was written', () => {
  const change = (sql: string, key: bigint) => log.database.prepare(sql).run([key]);

  it.each(['stream', 'revision', 'type', 'created', 'crc', 'record'])(
    'is damage with its place, in the column %s of a record',
    async (column) => {
      await append('a');
      const { lastPosition } = log.states.of(Buffer.from('a'));
      change(`UPDATE records SET ${column} = 'text' WHERE position = ?`, lastPosition);
      expect(() => log.records.at(lastPosition)).toThrow(DamagedLogError);
      expect(() => log.records.at(lastPosition)).toThrow(String(lastPosition));
    },
  );

  it.each([
    ['streams', 'name', /streams row \d+: column 0 is not a BLOB/],
    ['streams', 'crc', /streams row \d+: column 1 is not an integer/],
    ['event_types', 'name', /event_types row \d+: column 0 is not a BLOB/],
  ] as const)('is damage with its place, in the table %s, column %s', async (table, column, place) => {
    await append('a');
    const names = table === 'streams' ? log.streams : log.types;
    const id = names.lastId();
    names.forget();
    change(`UPDATE ${table} SET ${column} = 'text' WHERE id = ?`, id);
    expect(() => names.nameOf(id)).toThrow(DamagedLogError);
    expect(() => names.nameOf(id)).toThrow(place);
  });

  it('is damage when it stands where the next event belongs', async () => {
    change(
      'INSERT INTO records (position, stream, revision, type, created, crc, record) VALUES (?, 1, 99, 1, 1, 1, 1)',
      log.head,
    );
    await expect(append('a')).rejects.toThrow(/damaged: the storage that a write needed \(UNIQUE.*position/);
  });

  it('is damage in the copy of a log, too', async () => {
    await append('a');
    change("UPDATE streams SET name = 'text' WHERE id = ?", log.streams.lastId());
    await expect(copyLog(log, join(dir, 'copy.db'), new AbortController().signal)).rejects.toThrow(
      /damaged: streams row \d+: column 1 is not a BLOB/,
    );
  });
});
