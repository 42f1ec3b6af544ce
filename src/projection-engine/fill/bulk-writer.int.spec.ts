import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { projectionSet } from '../../../projections/projection-set.js';
import { startPostgres, type PostgresProcess } from '../../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../../test/support/run/run-directory.js';
import { Database } from '../../database/database.js';
import { migrate } from '../../database/migrate.js';
import { Ownership } from '../ownership.js';
import { prepareSet } from '../set-schema.js';
import { BulkWriter } from './bulk-writer.js';

const directory = tempDirectory('bulk-writer');
let postgres: PostgresProcess;
let writer: BulkWriter;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  await migrate(postgres.url);
  const setVersion = randomBytes(5).toString('hex');
  await prepareSet(postgres.url, setVersion, projectionSet, { id: 'log', head: () => Promise.resolve(0n) });
  const database = new Database(postgres.url);
  const epoch = (await new Ownership(database, setVersion, 'node').acquire()) ?? 0n;
  await database.close();
  writer = await BulkWriter.connect({ url: postgres.url, setVersion, epoch, lost: () => undefined });
});

afterAll(async () => {
  await writer.close();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

function named(name: string) {
  const found = projectionSet.find((projection) => projection.name === name);
  if (!found) throw new Error(`no ${name} in this set`);
  return found;
}

it('reads rows while an append beside it fails', async () => {
  let isAppending = true;
  const appended = writer
    .append([{ projection: named('session-items'), blocks: [Buffer.from('not a row\n')] }])
    .finally(() => (isAppending = false));
  appended.catch(() => undefined);

  while (isAppending) expect(await writer.load(named('agents'), [['a']])).toEqual([]);
  await expect(appended).rejects.toThrow(/missing data/);
});
