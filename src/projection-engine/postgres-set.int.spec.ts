import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { projectionSet } from '../../projections/projection-set.js';
import { startPostgres, type PostgresProcess } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { FaultPoints } from '../fault-points/fault-points.js';
import { Ownership } from './ownership.js';
import type { ParkedStream } from './parking.js';
import type { RowChange, SetConnection } from './ports.js';
import { PostgresSet } from './postgres-set.js';
import { prepareSet } from './set-schema.js';
import { Fenced } from './set-writer.js';

const directory = tempDirectory('set');
let postgres: PostgresProcess;
let database: Database;
let set: PostgresSet;
let former: SetConnection;
let owner: SetConnection;

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

/** A set whose former owner still has its connection. */
beforeEach(async () => {
  const setVersion = randomBytes(5).toString('hex');
  await prepareSet(postgres.url, setVersion, projectionSet, { id: 'log', head: () => Promise.resolve(0n) });
  const faults = new FaultPoints();
  set = new PostgresSet({ database, setVersion, projections: projectionSet, faults });
  const lease = new Ownership(database, setVersion, 'node');
  former = await set.connect((await lease.acquire()) ?? 0n, () => undefined);
  owner = await set.connect((await lease.acquire()) ?? 0n, () => undefined);
});

afterEach(async () => {
  await former.close();
  await owner.close();
});

const agents = projectionSet.find(({ name }) => name === 'agents');
if (!agents) throw new Error('no agents in this set');

function agentAt(position: bigint): RowChange[] {
  if (!agents) return [];
  const fields = { id: 'a', name: 'n', owner: null, harness: null, sub_agents: [], spec: null };
  const row = { ...fields, created_at: 0, updated_at: 0, position };
  return [{ projection: agents, whole: [row], touched: [], removed: [] }];
}

const stream: ParkedStream = {
  stream: 's',
  revision: 0n,
  position: 5n,
  eventId: 'e',
  eventType: 'T',
  reason: 'r',
};

async function stored(): Promise<{ checkpoint: bigint; rows: bigint[]; parked: string[] }> {
  const rows = agents ? await owner.load(agents, [['a']]) : [];
  return {
    checkpoint: await owner.checkpoint(),
    rows: rows.map(({ position }) => position),
    parked: [...(await set.parkedStreams()).keys()],
  };
}

describe('a commit under an epoch that is no longer the owner’s', () => {
  it.each([
    ['in one statement', [] as ParkedStream[]],
    ['in a transaction with what it parks', [stream]],
  ])('writes nothing, %s', async (_, parked) => {
    await owner.commit(agentAt(10n), [], 10n);
    await expect(former.commit(agentAt(20n), parked, 20n)).rejects.toThrow(Fenced);
    expect(await stored()).toEqual({ checkpoint: 10n, rows: [10n], parked: [] });
    await owner.commit(agentAt(30n), parked, 30n);
    expect(await stored()).toEqual({
      checkpoint: 30n,
      rows: [30n],
      parked: parked.map((one) => one.stream),
    });
  });
});
