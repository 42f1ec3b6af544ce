import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { NumberedFilter } from '../rules/event-filter.js';
import { EventLog } from '../storage/event-log.js';
import type { LogRecord } from '../storage/record-table.js';
import { FIRST_POSITION, positionAfter } from '../storage/record-table.js';
import { AllCursor } from './all-cursor.js';
import type { CursorFilter } from './cursor-filter.js';

let log: EventLog;
beforeEach(() => {
  log = EventLog.open(':memory:', Date.now);
});
afterEach(() => log.close());

async function append(type: string, count: number): Promise<void> {
  const event = () => ({ id: randomUUID(), type, isJson: false, metadata: Buffer.alloc(0) });
  const events = Array.from({ length: count }, () => ({ ...event(), data: randomBytes(300) }));
  await log.write({ kind: 'append', stream: Buffer.from('s'), expected: { kind: 'any' }, events });
}
function typesBeginningWith(prefix: string): CursorFilter {
  const accept = (names: readonly string[]) => names.map((name) => name.startsWith(prefix));
  const filter = new NumberedFilter(accept, (id) => log.types.nameOf(id));
  return { on: 'event-type', filter, checkpointInterval: undefined };
}
function readAll(filter: CursorFilter | undefined): LogRecord[] {
  const cursor = new AllCursor(log, FIRST_POSITION, filter, undefined);
  const found: LogRecord[] = [];
  while (!cursor.atHead) {
    for (const step of cursor.page()) if (step.kind === 'record') found.push(step.record);
  }
  return found;
}

describe('a filtered walk over the log', () => {
  it('gives what the filter wants and nothing else, over many pages', async () => {
    for (let round = 0; round < 40; round += 1) {
      await append('Wanted', 2);
      await append('Unwanted', 30);
    }
    const wanted = readAll(typesBeginningWith('Wanted'));
    expect(wanted.map((record) => record.revision)).toEqual(
      Array.from({ length: 80 }, (_, index) => BigInt(Math.floor(index / 2) * 32 + (index % 2))),
    );
  });

  it('stops at a damaged record, though by its damage the filter would leave it out', async () => {
    await append('Wanted', 1);
    await append('Unwanted', 1);
    const [wanted, unwanted] = readAll(undefined).slice(-2);
    log.database
      .prepare('UPDATE records SET type = ? WHERE position = ?')
      .run([unwanted?.type ?? 0n, wanted?.position ?? 0n]);
    expect(() => readAll(typesBeginningWith('Wanted'))).toThrow(
      `the record at position ${wanted?.position} does not match`,
    );
  });

  it('stops at a record that it passes over and whose bytes are damaged', async () => {
    await append('Unwanted', 1);
    const position = readAll(undefined).at(-1)?.position ?? 0n;
    log.database
      .prepare('UPDATE records SET record = zeroblob(length(record)) WHERE position = ?')
      .run([position]);
    expect(() => readAll(typesBeginningWith('Wanted'))).toThrow(`the record at position ${position}`);
  });
});

describe('the start of a walk', () => {
  const remove = (position: bigint) =>
    log.database.prepare('DELETE FROM records WHERE position = ?').run([position]);
  const pageFrom = (position: bigint) => new AllCursor(log, position, undefined, undefined).page();

  it('does not step over a hole, wherever it lies', async () => {
    await append('Happened', 3);
    const records = readAll(undefined);
    const [hole, behind] = records.slice(-2);
    remove(FIRST_POSITION);
    expect(() => pageFrom(FIRST_POSITION)).toThrow(`between positions ${FIRST_POSITION} and`);
    remove(hole?.position ?? 0n);
    expect(() => pageFrom(hole?.position ?? 0n)).toThrow(
      `between positions ${hole?.position} and ${behind?.position} are missing`,
    );
  });

  it('beyond the head gives what comes behind it and nothing before', async () => {
    const beyond = log.head + 400n;
    const cursor = new AllCursor(log, beyond, undefined, undefined);
    expect(cursor.page()).toEqual([]);
    await append('Happened', 4);
    const positions = readAll(undefined).map((record) => record.position);
    const given = cursor.page().map((step) => (step.kind === 'record' ? step.record.position : 0n));
    expect(given).toEqual(positions.filter((position) => position >= beyond));
    expect(given.length).toBeGreaterThan(0);
    expect(given.length).toBeLessThan(4);
  });

  it('behind a record is the place of the next', async () => {
    await append('Happened', 2);
    const [first, second] = readAll(undefined).slice(-2);
    const [step] = first === undefined ? [] : pageFrom(positionAfter(first));
    expect(step).toMatchObject({ kind: 'record', record: { position: second?.position } });
  });
});
