import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyProjection, projectionSet } from '../../../projections/projection-set.js';
import type { ColumnType } from '../../../projections/projection.js';
import {
  type EventStoreProcess,
  startEventStore,
} from '../../../test/support/process/event-store-process.js';
import { type PostgresProcess, startPostgres } from '../../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../../test/support/run/run-directory.js';
import { Database } from '../../database/database.js';
import { migrate } from '../../database/migrate.js';
import { createEventRegistry } from '../../event-store/catalogue.js';
import { EventLog } from '../../event-store/event-log.js';
import { StreamNames } from '../../event-store/stream-names.js';
import { EventReader } from '../event-reader.js';
import { Ownership } from '../ownership.js';
import { parkedStreams } from '../parked-table.js';
import { prepareSet } from '../set-schema.js';
import { schemaOf } from '../set-version.js';
import { Fenced } from '../set-writer.js';
import { BulkWriter } from './bulk-writer.js';
import { FILL_LIMITS, SetFiller } from './set-filler.js';

const directory = tempDirectory('fill-fence');
const names = new StreamNames('rollcall.');
const items = named('session-items');
const agents = named('agents');

let postgres: PostgresProcess;
let node: EventStoreProcess;
let log: EventLog;
let database: Database;
let setVersion: string;
let ownership: Ownership;

beforeAll(async () => {
  [postgres, node] = await Promise.all([
    startPostgres(join(directory, 'postgres')),
    startEventStore(join(directory, 'eventstore')),
  ]);
  await migrate(postgres.url);
  database = new Database(postgres.url);
  log = new EventLog(node.url);
});

beforeEach(async () => {
  setVersion = randomBytes(5).toString('hex');
  await prepareSet(postgres.url, setVersion, projectionSet, { id: 'log', head: () => Promise.resolve(0n) });
  ownership = new Ownership(database, setVersion, 'node');
});

afterAll(async () => {
  await log.close();
  await database.close();
  await Promise.all([postgres.stop(), node.end('SIGTERM')]);
  rmSync(directory, { recursive: true, force: true });
});

function named(name: string): AnyProjection {
  const found = projectionSet.find((projection) => projection.name === name);
  if (!found) throw new Error(`no ${name} in this set`);
  return found;
}

/** A row as COPY takes it, of any value in every column. */
function lineAt({ table }: AnyProjection, position: number): Buffer {
  const values = Object.entries<ColumnType>(table.columns).map(([column, type]) => {
    if (column === 'position') return position;
    switch (type) {
      case 'text':
        return `at ${position}`;
      case 'json':
      case 'text[]':
        return '{}';
      case 'boolean':
        return 't';
      case 'integer':
      case 'bigint':
        return 0;
      case 'timestamptz':
        return '2026-01-01';
    }
  });
  return Buffer.from(`${values.join('\t')}\n`);
}

async function writerUnder(epoch: bigint): Promise<BulkWriter> {
  return BulkWriter.connect({ url: postgres.url, setVersion, epoch, lost: () => undefined });
}

async function stored(): Promise<unknown> {
  const schema = schemaOf(setVersion);
  const { rows } = await database.pool.query<object>(
    `SELECT (SELECT array_agg(position::int ORDER BY 1) FROM ${schema}.session_items) AS items,
       (SELECT array_agg(position::int ORDER BY 1) FROM ${schema}.agents) AS agents, position::int AS checkpoint
     FROM ${schema}.checkpoint`,
  );
  return { ...rows[0], parked: [...(await parkedStreams(database, setVersion)).keys()] };
}

const parked = {
  stream: 's',
  revision: 0n,
  position: 5n,
  eventId: 'e',
  eventType: 'T',
  reason: 'r',
};

const writes: readonly [string, (writer: BulkWriter, position: number) => Promise<void>, object][] = [
  [
    'appends nothing',
    (writer, position) => writer.append([{ projection: items, blocks: [lineAt(items, position)] }]),
    { items: [1], agents: null, checkpoint: -1, parked: [] },
  ],
  [
    'writes neither rows nor parked streams nor the checkpoint',
    (writer, position) => {
      const changes = [{ projection: agents, blocks: [lineAt(agents, position)], removed: [] }];
      return writer.write(changes, [{ ...parked, stream: `s${position}` }], BigInt(position));
    },
    { items: null, agents: [1], checkpoint: 1, parked: ['s1'] },
  ],
];

it.each(writes)('a filler under an epoch that is no longer the owner’s %s', async (_, write, expected) => {
  const former = await writerUnder(await ownership.seize());
  const owner = await writerUnder(await ownership.seize());
  try {
    await expect(write(former, 2)).rejects.toThrow(Fenced);
    await write(owner, 1);
    expect(await stored()).toEqual(expected);
  } finally {
    await former.close();
    await owner.close();
  }
});

it('a filler that opens a set under such an epoch neither removes what the owner appended nor ends its connection', async () => {
  const former = await ownership.seize();
  const epoch = await ownership.seize();
  const owner = await writerUnder(epoch);
  try {
    await owner.append([{ projection: items, blocks: [lineAt(items, 1)] }]);
    const opening = SetFiller.open({
      database,
      log,
      reader: new EventReader(createEventRegistry(), names),
      names,
      projections: projectionSet,
      setVersion,
      epoch: former,
      parked: new Map(),
      onParked: () => undefined,
      onPassedOver: () => undefined,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      limits: FILL_LIMITS,
    });
    await expect(opening).rejects.toThrow(Fenced);
    await owner.append([{ projection: items, blocks: [lineAt(items, 2)] }]);
    expect(await stored()).toMatchObject({ items: [1, 2], checkpoint: -1 });
  } finally {
    await owner.close();
  }
});
