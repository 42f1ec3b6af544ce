import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { startPostgres, type PostgresProcess } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { Database } from './database.js';

const directory = tempDirectory('database');
let postgres: PostgresProcess;
let database: Database;
/** Stands still unless a test moves it, so that a success stays fresh. */
let time = 0;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  database = new Database(postgres.url, 2, () => time);
  await database.query('one', 'SELECT 1');
  await postgres.stop();
});

afterAll(async () => {
  await database.close();
  rmSync(directory, { recursive: true, force: true });
});

const code = async (): Promise<string | undefined> => (await database.refusalIfAway())?.code;

describe('while Postgres is away', () => {
  beforeEach(() => {
    time += 1_000;
    database.doubt();
    time += 1;
  });

  it('a success speaks for what follows closely', async () => {
    database.succeeded(time);
    expect(await code()).toBeUndefined();
  });

  it('a success of a while ago speaks for nothing', async () => {
    database.succeeded(time);
    time += 250;
    expect(await code()).toBe('database_unavailable');
  });

  it('a lost connection takes back what a success before said', async () => {
    database.succeeded(time);
    time += 1;
    database.doubt();
    expect(await code()).toBe('database_unavailable');
  });

  it('a statement begun before a connection was lost speaks for nothing when its answer arrives later', async () => {
    const begun = time;
    time += 1;
    database.doubt();
    time += 1;
    database.succeeded(begun);
    expect(await code()).toBe('database_unavailable');
  });
});
