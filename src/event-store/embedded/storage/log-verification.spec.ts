import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integerColumn } from './database.js';
import { EventLog } from './event-log.js';
import { LogVerification } from './log-verification.js';

const NAMES = Array.from({ length: 30 }, (_, index) => `stream-number-${index}`);
let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollcall-verification-'));
  file = join(dir, 'eventstore.db');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function open(): EventLog {
  return EventLog.open(file, Date.now);
}

/** Writes one event to each stream and closes the log; answers the bytes of the page that an index begins with. */
async function fill(index: string): Promise<{ readonly begin: number; readonly end: number }> {
  const log = open();
  for (const name of NAMES) {
    const event = {
      id: randomUUID(),
      type: `Type-of-${name}`,
      isJson: false,
      metadata: Buffer.alloc(0),
      data: Buffer.alloc(0),
    };
    await log.write({
      kind: 'append',
      stream: Buffer.from(name),
      expected: { kind: 'any' },
      events: [event],
    });
  }
  const number = (sql: string, values: string[]) =>
    Number(integerColumn(log.database.prepare(sql).first(values) ?? [], 0));
  const page = number('SELECT rootpage FROM sqlite_schema WHERE name = ?', [index]);
  const size = number('PRAGMA page_size', []);
  log.close();
  return { begin: (page - 1) * size, end: page * size };
}

function verify(): void {
  const log = open();
  try {
    new LogVerification(log).runFor(Number.POSITIVE_INFINITY, () => 0);
  } finally {
    log.close();
  }
}

describe('the verification of a log', () => {
  it.each([
    ['stream', 'sqlite_autoindex_streams_1', 'streams', 'stream-number-17'],
    ['event type', 'sqlite_autoindex_event_types_1', 'event_types', 'Type-of-stream-number-17'],
  ])('finds a damaged byte in the index by which a %s is looked up', async (_what, index, table, name) => {
    const page = await fill(index);
    expect(verify).not.toThrow();
    const bytes = readFileSync(file);
    const at = bytes.indexOf(name, page.begin);
    expect(at).toBeLessThan(page.end);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x20, at);
    writeFileSync(file, bytes);
    expect(verify).toThrow(new RegExp(`damaged: the index of ${table} does not point at row \\d+`));
  });
});
