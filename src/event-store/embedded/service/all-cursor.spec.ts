import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { NumberedFilter } from '../rules/event-filter.js';
import { EventLog } from '../storage/event-log.js';
import type { LogRecord } from '../storage/record-table.js';
import { FIRST_POSITION } from '../storage/record-table.js';
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
