import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Client } from 'pg';
import { projectionSet } from '../../projections/projection-set.js';
import { createEventRegistry } from '../../src/event-store/catalogue.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { FaultPoints } from '../../src/fault-points/fault-points.js';
import { BatchApplier } from '../../src/projection-engine/batch-applier.js';
import type { ParkedStream } from '../../src/projection-engine/parking.js';
import { fromDatabase } from '../../src/projection-engine/row-codec.js';
import { prepareSet } from '../../src/projection-engine/set-schema.js';
import { schemaOf } from '../../src/projection-engine/set-version.js';
import { SetWriter } from '../../src/projection-engine/set-writer.js';
import { stack } from '../support/stack.js';
import { cutAt, foldInBatches, history, names, read, runs, type Tables } from './histories.js';

jest.setTimeout(600_000);

const url = stack().databaseUrl;
const client = new Client({ connectionString: url });

beforeAll(() => client.connect());
afterAll(() => client.end());

it('the engine writes the rows of one straight fold, however it is cut and wherever it starts over', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(fc.nat(), { maxLength: 6, size: 'max' }),
      fc.nat(),
      fc.nat(),
      async (appends, points, stop, back) => {
        const raws = appends.flat();
        const stopped = stop % (raws.length + 1);
        const lives = [
          cutAt(raws.slice(0, stopped), points),
          cutAt(raws.slice(back % (stopped + 1)), points),
        ];
        expect(await written(lives)).toEqual(foldInBatches([raws.map(read)]));
      },
    ),
    runs(12, 200),
  );
});

/** What stands in the tables of a set of its own after these lives of an engine. */
async function written(lives: readonly (readonly RawEvent[])[][]): Promise<Tables> {
  const version = randomBytes(5).toString('hex');
  await prepareSet(url, version, projectionSet, { id: 'log', head: 10n ** 9n });
  try {
    await client.query('INSERT INTO rollcall.projection_sets VALUES ($1, $2, 1, clock_timestamp())', [
      version,
      'test',
    ]);
    for (const batches of lives) await live(version, batches);
    return await tablesOf(version);
  } finally {
    await client.query(`DROP SCHEMA ${schemaOf(version)} CASCADE`);
    await client.query('DELETE FROM rollcall.projection_sets WHERE version = $1', [version]);
  }
}

async function live(version: string, batches: readonly (readonly RawEvent[])[]): Promise<void> {
  const lost = (): void => undefined;
  const writer = await SetWriter.connect({
    url,
    setVersion: version,
    epoch: 1n,
    projections: projectionSet,
    faults: new FaultPoints(),
    lost,
  });
  const refuseParking = ({ reason }: ParkedStream): never => {
    throw new Error(`parked: ${reason}`);
  };
  try {
    const applier = new BatchApplier(writer, createEventRegistry(), names, new Set(), refuseParking);
    for (const batch of batches) await applier.apply(batch, batch.at(-1)?.position ?? -1n);
  } finally {
    await writer.close();
  }
}

async function tablesOf(version: string): Promise<Tables> {
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
