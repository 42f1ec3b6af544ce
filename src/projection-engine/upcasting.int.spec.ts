import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Type } from '@sinclair/typebox';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectionSet } from '../../projections/projection-set.js';
import { startEventStore, type EventStoreProcess } from '../../test/support/process/event-store-process.js';
import { startPostgres, type PostgresProcess } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { until } from '../../test/support/until.js';
import { newUuid } from '../uuid.js';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { eventCatalogue } from '../event-store/catalogue.js';
import { EventLog } from '../event-store/event-log.js';
import { EventRegistry } from '../event-store/event-registry.js';
import { eventType, type EventType } from '../event-store/event-type.js';
import { StreamNames } from '../event-store/stream-names.js';
import { FaultPoints } from '../fault-points/fault-points.js';
import { CheckpointWatch } from './checkpoint-watch.js';
import { type EngineOptions, ProjectionEngine } from './engine.js';
import { EventReader } from './event-reader.js';
import { FirstFill } from './fill/first-fill.js';
import { ShadowSet } from './fill/shadow-set.js';
import { ENGINE_LIMITS } from './limits.js';
import { Ownership } from './ownership.js';
import { ParkedStreams } from './parked-streams.js';
import { PostgresSet } from './postgres-set.js';
import { systemScheduler } from './scheduler.js';
import { prepareSet } from './set-schema.js';
import { schemaOf } from './set-version.js';

type Data = Record<string, unknown>;

const STATUSES = ['idle', 'running', 'waiting', 'failed'];

/** The catalogue as a later build may have it: a member renamed and one added, numbers that became words, text that became blocks. */
const upcasters: Readonly<Record<string, (data: Data) => Data>> = {
  SessionSpawned: ({ agent, ...data }) => ({ ...data, agent_name: agent, labels: {} }),
  SessionStatusChanged: (data) => {
    const word = STATUSES[data['status'] as number];
    return { ...data, status: word, reported: word };
  },
  ItemAppended: ({ text, ...data }) => ({
    ...data,
    payload: { role: 'assistant', content: [{ type: 'output_text', text }] },
  }),
};
const catalogue: readonly EventType[] = eventCatalogue.map((definition) => {
  const lift = upcasters[definition.type];
  if (!lift) return definition;
  return eventType(definition.type, 2, Type.Unsafe(definition.shape), { 1: (data) => lift(data as Data) });
});
const retired = new Set(['SessionNoted']);
const names = new StreamNames('rollcall.');
const reader = new EventReader(new EventRegistry(catalogue, retired), names);
const streams = ['old', 'new', 'broken'].map((session) => names.session(session));
const logger = { info: () => undefined, warn: () => undefined };

const directory = tempDirectory('upcasting');
let postgres: PostgresProcess;
let node: EventStoreProcess;
let database: Database;
let log: EventLog;

beforeAll(async () => {
  [postgres, node] = await Promise.all([
    startPostgres(join(directory, 'postgres')),
    startEventStore(join(directory, 'eventstore')),
  ]);
  await migrate(postgres.url);
  database = new Database(postgres.url);
  log = new EventLog(node.url);
  await writeOldAndNew();
});

afterAll(async () => {
  await log.close();
  await database.close();
  await Promise.all([postgres.stop(), node.end('SIGTERM')]);
  rmSync(directory, { recursive: true, force: true });
});

type Written = readonly [type: string, schema: number, data: Data];

async function write(session: string, events: readonly Written[]): Promise<void> {
  const encoded = events.map(([type, schema, data]) => {
    const origin = { $correlationId: 'c', $causationId: 'c', actor: 'anonymous' };
    const metadata = { schema, ...origin, occurred_at: '2026-01-01T00:00:00.000Z', root_id: session };
    return { id: newUuid(), type, data, metadata, bytes: 0 };
  });
  await log.append(names.session(session), encoded, 'no-stream');
}

/** What a way of filling a set says of it. */
interface Filled {
  readonly passedOver: number;
  readonly parked: readonly string[];
}

/** `fill`: what brings a new set near the head before the engine follows the log. */
async function byEngine(version: string, fill: EngineOptions['fill']): Promise<Filled> {
  await prepareSet(postgres.url, version, projectionSet, {
    id: 'log',
    head: () => Promise.resolve(10n ** 15n),
  });
  const faults = new FaultPoints();
  const parking = new ParkedStreams(database, version);
  const engine = new ProjectionEngine({
    log,
    store: new PostgresSet({ database, setVersion: version, projections: projectionSet, faults }),
    lease: new Ownership(database, version, 'node'),
    scheduler: systemScheduler,
    reader,
    names,
    projections: projectionSet,
    limits: ENGINE_LIMITS,
    watch: new CheckpointWatch(database, version),
    faults,
    parking,
    fill,
    build: 'later',
    logger,
  });
  engine.start();
  try {
    await until('the engine to be live', () => engine.state === 'live', { within: 20_000 });
    await parking.look();
    return {
      passedOver: engine.figures.snapshot().passedOver,
      parked: streams.filter((stream) => parking.has(stream)),
    };
  } finally {
    await engine.stop();
  }
}

async function byRebuild(version: string): Promise<Filled> {
  const shadow = await ShadowSet.open({
    url: postgres.url,
    log,
    reader,
    names,
    projections: projectionSet,
    version,
    logId: 'log',
    parked: new Map(),
    signal: AbortSignal.timeout(20_000),
    onProgress: () => undefined,
  });
  try {
    await shadow.fillTo((await log.head()) ?? 0n);
    return {
      passedOver: [...shadow.passedOver.values()].reduce((sum, count) => sum + count, 0),
      parked: shadow.parked.map(({ stream }) => stream),
    };
  } finally {
    await shadow.close();
  }
}

const ways: readonly [string, (version: string) => Promise<Filled>][] = [
  ['the engine', (version) => byEngine(version, () => Promise.resolve())],
  [
    'a first fill',
    (version) => {
      const options = { log, database, reader, names, projections: projectionSet, logger };
      const filling = new FirstFill({ ...options, setVersion: version });
      return byEngine(version, (...fill) => filling.run(...fill));
    },
  ],
  ['a rebuild', byRebuild],
];

async function rowsOf(version: string, session: string): Promise<readonly (readonly Data[])[]> {
  const tables = [
    ['sessions', 'id'],
    ['session_items', 'session_id'],
    ['session_rollups', 'session_id'],
  ];
  return Promise.all(
    tables.map(async ([table, column]) => {
      const sql = `SELECT * FROM ${schemaOf(version)}.${table} WHERE ${column} = $1 ORDER BY position`;
      return (await database.pool.query<Data>(sql, [session])).rows;
    }),
  );
}

/** Without what two sessions cannot share. */
function alike(rows: readonly (readonly Data[])[], session: string): unknown {
  const own = /position|_at$/;
  return rows.map((table) =>
    table.map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([column]) => !own.test(column))
          .map(([column, value]) => [column, value === session ? 'the session' : value]),
      ),
    ),
  );
}

async function writeOldAndNew(): Promise<void> {
  const spawn = (session: string): Data => ({
    session_id: session,
    parent_session_id: null,
    root_session_id: session,
    ancestor_ids: [],
    owner: 'ann',
    agent_id: null,
    title: 't',
    tool: null,
    session_name: null,
  });
  const status = {
    response_id: null,
    background_task_count: null,
    blocked_on: null,
    output: null,
    error: null,
  };
  const item = { item_id: 'i', response_id: 'r', item_type: 'message', created_by: null };
  const payload = { role: 'assistant', content: [{ type: 'output_text', text: 'said' }] };
  await write('old', [
    ['SessionSpawned', 1, { ...spawn('old'), agent: 'coder' }],
    ['SessionNoted', 1, { note: 'whatever' }],
    ['ItemAppended', 1, { ...item, text: 'said' }],
    ['SessionStatusChanged', 1, { ...status, status: 1 }],
  ]);
  await write('new', [
    ['SessionSpawned', 2, { ...spawn('new'), agent_name: 'coder', labels: {} }],
    ['ItemAppended', 2, { ...item, payload }],
    ['SessionStatusChanged', 2, { ...status, status: 'running', reported: 'running' }],
  ]);
  await write('broken', [
    ['SessionSpawned', 1, { ...spawn('broken'), agent: 'coder' }],
    ['SessionStatusChanged', 1, { ...status, status: 9 }],
  ]);
}

it.each(ways)(
  'F128: what %s makes of old versions are the rows of their newer equivalents, and a retired type is passed over',
  async (_, fill) => {
    const stored = [];
    for await (const { position } of log.read(names.session('old'))) stored.push(position.toString());
    const version = randomBytes(5).toString('hex');

    expect(await fill(version)).toEqual({ passedOver: 1, parked: [names.session('broken')] });
    const [old, newer] = await Promise.all([rowsOf(version, 'old'), rowsOf(version, 'new')]);
    expect(alike(old, 'old')).toEqual(alike(newer, 'new'));
    const [sessions, items] = old;
    expect(sessions).toMatchObject([{ agent_name: 'coder', status: 'running' }]);
    expect([items?.[0]?.['position'], sessions?.[0]?.['position']]).toEqual([stored[2], stored[3]]);
  },
);
