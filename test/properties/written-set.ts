import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { projectionSet } from '../../projections/projection-set.js';
import { Database } from '../../src/database/database.js';
import { createEventRegistry } from '../../src/event-store/catalogue.js';
import type { EventRegistry } from '../../src/event-store/event-registry.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { FaultPoints } from '../../src/fault-points/fault-points.js';
import { BatchApplier } from '../../src/projection-engine/batch-applier.js';
import { ENGINE_LIMITS } from '../../src/projection-engine/limits.js';
import type { EngineLog } from '../../src/projection-engine/engine.js';
import { EventReader } from '../../src/projection-engine/event-reader.js';
import { ParkedRetries } from '../../src/projection-engine/parked-retries.js';
import { type KnownParked, parkedStreams } from '../../src/projection-engine/parked-table.js';
import type { LogFollower, ParkingSink } from '../../src/projection-engine/ports.js';
import { systemScheduler } from '../../src/projection-engine/scheduler.js';
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
  /** Each parked stream with the position from which on it is parked. */
  readonly parked: ReadonlyMap<string, bigint>;
}

/** One owner of the set: the batches that it applies, and what it does after each. */
export interface Life {
  readonly batches: readonly (readonly RawEvent[])[];
  readonly registry: EventRegistry;
  /** The log, in case that the life retries what is parked; at most one batch of that after each of its own. */
  readonly log: readonly RawEvent[];
}

/** What stands in the tables of a set of its own after these lives of an engine. */
export async function written(
  client: Client,
  lives: readonly (readonly RawEvent[])[][],
): Promise<WrittenSet> {
  const registry = createEventRegistry();
  return lived(
    client,
    lives.map((batches) => ({ batches, registry, log: [] })),
  );
}

/** The same, each life with a build of its own: what an earlier one parked is retried. */
export async function lived(client: Client, lives: readonly Life[]): Promise<WrittenSet> {
  const version = randomBytes(5).toString('hex');
  await prepareSet(url, version, projectionSet, { id: 'log', head: () => Promise.resolve(10n ** 9n) });
  try {
    await client.query('INSERT INTO rollcall.projection_sets VALUES ($1, $2, 1, clock_timestamp())', [
      version,
      'test',
    ]);
    for (const [index, life] of lives.entries()) await live(version, life, `build-${index}`);
    const parked = positionsOf(await parkedStreams(database, version));
    return { tables: await tablesOf(client, version), parked };
  } finally {
    await client.query(`DROP SCHEMA ${schemaOf(version)} CASCADE`);
    await client.query('DELETE FROM rollcall.projection_sets WHERE version = $1', [version]);
    await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = $1', [version]);
  }
}

async function live(version: string, { batches, registry, log }: Life, build: string): Promise<void> {
  const faults = new FaultPoints();
  const store = new PostgresSet({ database, setVersion: version, projections: projectionSet, faults });
  const connection = await store.connect(1n, () => undefined);
  const writer = new SetWriter(connection, projectionSet, faults, ENGINE_LIMITS.keptRows);
  try {
    const asked = (await writer.takeOver(build)) > 0;
    const parking = new Requests(asked);
    const parked = positionsOf(await store.parkedStreams());
    const nothing = (): void => undefined;
    const reader = new EventReader(registry, names);
    const applier = new BatchApplier(writer, reader, parked, nothing, nothing);
    const parts = { writer, reader, parking, parked, logger, passedOver: nothing };
    const retries = new ParkedRetries({ ...parts, log: recordedLog(log), scheduler: systemScheduler });
    for (const batch of batches) {
      await applier.apply(batch, batch.at(-1)?.position ?? (await writer.checkpoint()));
      await retries.step(await writer.checkpoint());
    }
    while (retries.isDue && log.length > 0) await retries.step(await writer.checkpoint());
  } finally {
    await writer.close();
  }
}

/** What a node knows of requests, told by nobody but the owner itself. */
class Requests implements ParkingSink {
  constructor(public retryRequested: boolean) {}
  parked(): void {}
  freed(): void {}
  onRequest(): void {}
  noneRequested(): void {
    this.retryRequested = false;
  }
}

const logger: EngineLog = { info: () => undefined, warn: () => undefined };

function recordedLog(events: readonly RawEvent[]): LogFollower {
  return {
    newest: () => Promise.resolve(null),
    appendsInFlight: 0,
    follow: () => {
      throw new Error('the batches are given');
    },

    async *read(stream, { from, limit }) {
      const ofStream = events.filter((event) => event.stream === stream && event.revision >= from);
      yield* ofStream.slice(0, limit);
    },
  };
}

function positionsOf(parked: ReadonlyMap<string, KnownParked>): Map<string, bigint> {
  return new Map([...parked].map(([stream, { position }]) => [stream, position]));
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
