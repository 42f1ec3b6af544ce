import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { projectionSet } from '../../projections/projection-set.js';
import { Database } from '../../src/database/database.js';
import { createEventRegistry } from '../../src/event-store/catalogue.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { FaultPoints } from '../../src/fault-points/fault-points.js';
import { BatchApplier } from '../../src/projection-engine/batch-applier.js';
import { ENGINE_LIMITS } from '../../src/projection-engine/limits.js';
import { PostgresSet } from '../../src/projection-engine/postgres-set.js';
import { fromDatabase } from '../../src/projection-engine/row-codec.js';
import { prepareSet } from '../../src/projection-engine/set-schema.js';
import { schemaOf } from '../../src/projection-engine/set-version.js';
import { SetWriter } from '../../src/projection-engine/set-writer.js';
import { stack } from '../support/stack.js';
import { names, type Tables } from './histories.js';

const url = stack().databaseUrl;
const database = new Database(url, 1);

export interface WrittenSet {
  readonly tables: Tables;
  readonly parked: readonly string[];
}

/** What stands in the tables of a set of its own after these lives of an engine. */
export async function written(
  client: Client,
  lives: readonly (readonly RawEvent[])[][],
): Promise<WrittenSet> {
  const parked: string[] = [];
  const version = randomBytes(5).toString('hex');
  await prepareSet(url, version, projectionSet, { id: 'log', head: () => Promise.resolve(10n ** 9n) });
  try {
    await client.query('INSERT INTO rollcall.projection_sets VALUES ($1, $2, 1, clock_timestamp())', [
      version,
      'test',
    ]);
    for (const batches of lives) await live(version, batches, parked);
    return { tables: await tablesOf(client, version), parked };
  } finally {
    await client.query(`DROP SCHEMA ${schemaOf(version)} CASCADE`);
    await client.query('DELETE FROM rollcall.projection_sets WHERE version = $1', [version]);
  }
}

async function live(
  version: string,
  batches: readonly (readonly RawEvent[])[],
  parked: string[],
): Promise<void> {
  const faults = new FaultPoints();
  const store = new PostgresSet({ database, setVersion: version, projections: projectionSet, faults });
  const connection = await store.connect(1n, () => undefined);
  const writer = new SetWriter(connection, projectionSet, faults, ENGINE_LIMITS.keptRows);
  try {
    const applier = new BatchApplier(writer, createEventRegistry(), names, new Map(), ({ stream }) => {
      parked.push(stream);
    });
    for (const batch of batches) await applier.apply(batch, batch.at(-1)?.position ?? -1n);
  } finally {
    await writer.close();
  }
}

/** Every table of a set, its rows in the order of their keys. */
export async function tablesOf(client: Client, version: string): Promise<Tables> {
  const tables: Record<string, object[]> = {};
  for (const { name, table } of projectionSet) {
    const { rows } = await client.query<Record<string, unknown>>(
      `SELECT * FROM ${schemaOf(version)}.${table.name}`,
    );
    const keyOf = (row: object): string =>
      JSON.stringify(table.primaryKey.map((column) => String((row as Record<string, unknown>)[column])));
    tables[name] = rows
      .map((row) => fromDatabase(table.columns, row))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
  return tables;
}
