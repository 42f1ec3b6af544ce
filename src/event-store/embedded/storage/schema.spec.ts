import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqlDatabase } from './database.js';
import { prepareSchema } from './schema.js';

let dir: string;
let database: SqlDatabase;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollcall-schema-'));
  database = new SqlDatabase(join(dir, 'eventstore.db'));
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('a readied connection', () => {
  it.each([
    ['synchronous', 2n],
    ['fullfsync', 1n],
    ['checkpoint_fullfsync', 1n],
    ['journal_mode', 'wal'],
    ['locking_mode', 'exclusive'],
  ])('has %s at %s: a commit is on the disk when it returns', (pragma, value) => {
    prepareSchema(database);
    expect(database.prepare(`PRAGMA ${pragma}`).first([])).toEqual([value]);
  });

  it('refuses a file of another format', () => {
    database.exec('PRAGMA user_version = 7');
    expect(() => prepareSchema(database)).toThrow('the event store file has format 7, this build reads 1');
  });
});
