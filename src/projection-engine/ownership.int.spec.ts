import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { startPostgres, type PostgresProcess } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { unique } from '../../test/support/unique.js';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { Ownership } from './ownership.js';

const directory = tempDirectory('ownership');
let postgres: PostgresProcess;
let database: Database;
let version: string;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  await migrate(postgres.url);
  database = new Database(postgres.url);
});

afterAll(async () => {
  await database.close();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  version = unique('set');
});

const node = (name: string): Ownership => new Ownership(database, version, name);

/** As if so much time had passed since the last renewal. */
async function age(seconds: number): Promise<void> {
  await database.pool.query(
    `UPDATE rollcall.projection_sets SET renewed_at = clock_timestamp() - make_interval(secs => $2) WHERE version = $1`,
    [version, seconds],
  );
}

describe('the ownership of a set (design 6)', () => {
  it('goes to the first, and to nobody else while it is renewed', async () => {
    expect(await node('a').acquire()).toBe(1n);
    expect(await node('b').acquire()).toBeNull();
    await age(2.5);
    expect(await node('b').acquire()).toBeNull();
    expect(await node('a').renew(1n)).toBe(true);
  });

  it('is taken over three seconds after the last renewal, under a new epoch', async () => {
    await node('a').acquire();
    await age(3.1);
    expect(await node('b').acquire()).toBe(2n);
    expect(await node('a').renew(1n)).toBe(false);
    expect(await node('b').renew(2n)).toBe(true);
  });

  it('is free at once after its owner let go, but not by an older epoch', async () => {
    const a = node('a');
    await a.acquire();
    await age(3.1);
    await node('b').acquire();
    await a.release(1n);
    expect(await node('c').acquire()).toBeNull();
    await node('b').release(2n);
    expect(await node('c').acquire()).toBe(3n);
  });

  it('is not held twice by the same node: its own older epoch ends as well', async () => {
    await node('a').acquire();
    expect(await node('a').acquire()).toBe(2n);
    expect(await node('a').renew(1n)).toBe(false);
  });

  it('goes to exactly one of many that ask at once', async () => {
    const asked = await Promise.all(Array.from({ length: 8 }, (_, index) => node(`n${index}`).acquire()));
    expect(asked.filter((epoch) => epoch !== null)).toEqual([1n]);
  });
});
