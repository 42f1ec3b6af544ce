import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { startPostgres, type PostgresProcess } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { unique } from '../../test/support/unique.js';
import type { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { EngineFigures } from './engine-figures.js';
import { leaseDatabase, Ownership } from './ownership.js';
import { systemScheduler } from './scheduler.js';

const directory = tempDirectory('ownership');
let postgres: PostgresProcess;
let database: Database;
let version: string;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  await migrate(postgres.url);
  database = leaseDatabase(postgres.url);
});

afterAll(async () => {
  await database.close();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  version = unique('set');
});

const figures = new EngineFigures(systemScheduler).snapshot();
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
    expect(await node('a').renew(1n, figures)).toBe(true);
  });

  it('is taken over three seconds after the last renewal, under a new epoch', async () => {
    await node('a').acquire();
    await age(3.1);
    expect(await node('b').acquire()).toBe(2n);
    expect(await node('a').renew(1n, figures)).toBe(false);
    expect(await node('b').renew(2n, figures)).toBe(true);
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
    expect(await node('a').renew(1n, figures)).toBe(false);
  });

  it('goes to exactly one of many that ask at once', async () => {
    const asked = await Promise.all(Array.from({ length: 8 }, (_, index) => node(`n${index}`).acquire()));
    expect(asked.filter((epoch) => epoch !== null)).toEqual([1n]);
  });

  it('goes to another when the clock was set back under a dead owner, but stays with one that lives', async () => {
    await node('a').acquire();
    await age(-3_600);
    expect(await node('a').renew(1n, figures)).toBe(true);
    expect(await node('b').acquire()).toBeNull();
    await age(-3_600);
    expect(await node('b').acquire()).toBe(2n);
  });

  it('is neither lost nor taken while a batch of the owner holds the row', async () => {
    await node('a').acquire();
    const batch = new Client({ connectionString: postgres.url });
    await batch.connect();
    await batch.query('BEGIN');
    await batch.query('SELECT 1 FROM rollcall.projection_sets WHERE version = $1 FOR SHARE', [version]);
    await expect(node('a').renew(1n, figures)).resolves.toBe(true);
    await expect(node('a').renew(2n, figures)).resolves.toBe(false);
    await expect(node('b').acquire()).resolves.toBeNull();
    await batch.end();
  });

  it('carries what the owner says of itself until there is another', async () => {
    const said = async (): Promise<unknown> => {
      const text = 'SELECT figures FROM rollcall.projection_sets WHERE version = $1';
      return (await database.pool.query<{ figures: unknown }>(text, [version])).rows[0]?.figures;
    };
    await node('a').acquire();
    expect(await said()).toBeNull();
    await node('a').renew(1n, { ...figures, checkpoint: 2n ** 60n, gap: 7, lag: 12.4, passedOver: 3 });
    expect(await said()).toMatchObject({
      checkpoint: '1152921504606846976',
      gap: 7,
      lag_ms: 12,
      passed_over: 3,
    });
    await age(3.1);
    await node('b').acquire();
    expect(await said()).toBeNull();
  });
});
