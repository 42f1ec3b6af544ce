import pg from 'pg';
import { DataSource } from 'typeorm';
import { Operations1764547200000 } from './migrations/1764547200000-operations.js';
import { ParkedRetries1764633600000 } from './migrations/1764633600000-parked-retries.js';
import { OwnerFigures1764640800000 } from './migrations/1764640800000-owner-figures.js';

/** Any fixed number: every node that migrates this database takes the same advisory lock. */
export const MIGRATION_LOCK = 7_236_019_554;

/** Brings everything outside the sets up to date. Forward only, one node at a time. */
export async function migrate(url: string): Promise<void> {
  await underLock(url, async () => {
    const source = new DataSource({
      type: 'postgres',
      url,
      schema: 'rollcall',
      migrationsTableName: 'migrations',
      migrations: [Operations1764547200000, ParkedRetries1764633600000, OwnerFigures1764640800000],
    });
    await source.initialize();
    try {
      await source.runMigrations({ transaction: 'each' });
    } finally {
      await source.destroy();
    }
  });
}

/** Runs `work` while no other node runs anything under this lock on the same database. */
export async function underLock(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'rollcall-migrate' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query('CREATE SCHEMA IF NOT EXISTS rollcall');
    await work(client);
  } finally {
    await client.end();
  }
}
