import { v4 } from 'uuid';
import { projectionSet } from '../projections/projection-set.js';
import { AgentStore } from './agents/aggregate.js';
import { SystemClock } from './clock/clock.js';
import { CommandKeys } from './command-handling/command-keys.js';
import { CommandRunner } from './command-handling/command-runner.js';
import { InFlightKeys } from './command-handling/in-flight-keys.js';
import type { Config } from './config/config.js';
import { Database } from './database/database.js';
import { migrate } from './database/migrate.js';
import { SnapshotTable } from './database/snapshot-table.js';
import { PromptHolders } from './elicitations/prompt-holders.js';
import { createEventRegistry } from './event-store/catalogue.js';
import { EventLog } from './event-store/event-log.js';
import { logIdentity } from './event-store/log-identity.js';
import { StreamNames } from './event-store/stream-names.js';
import { ControlSocket } from './fault-points/control-socket.js';
import { FaultPoints } from './fault-points/fault-points.js';
import { Health } from './observability/health.js';
import { CheckpointWatch } from './projection-engine/checkpoint-watch.js';
import { type EngineLog, ProjectionEngine } from './projection-engine/engine.js';
import { ENGINE_LIMITS } from './projection-engine/limits.js';
import { leaseDatabase, Ownership } from './projection-engine/ownership.js';
import { ParkedStreams } from './projection-engine/parked-streams.js';
import { PostgresSet } from './projection-engine/postgres-set.js';
import { systemScheduler } from './projection-engine/scheduler.js';
import { NOTHING_APPLIED, prepareSet } from './projection-engine/set-schema.js';
import { SET_SCHEMA as schema, SET_VERSION as setVersion } from './projection-engine/this-set.js';
import { thisBuild } from './projection-engine/this-build.js';
import { ChildReactor } from './reactors/child-reactor.js';
import { ReadModels } from './read-models/read-models.js';
import { SessionStore } from './sessions/aggregate.js';
import { SessionCommands } from './sessions/session-commands.js';

/** Everything under the HTTP layer of one node. */
export interface Core {
  readonly clock: SystemClock;
  readonly faults: FaultPoints;
  readonly names: StreamNames;
  readonly sessionStore: SessionStore;
  readonly agentStore: AgentStore;
  readonly sessions: SessionCommands;
  readonly runner: CommandRunner;
  readonly readModels: ReadModels;
  readonly parked: ParkedStreams;
  readonly promptHolders: PromptHolders;
  readonly health: Health;
  close(): Promise<void>;
}

export interface CoreOptions {
  readonly config: Config;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  readonly logger: EngineLog;
}

/** Connects, migrates, checks that read models and log belong together, and starts to project. Throws `ForeignLog`. */
export async function startCore(options: CoreOptions): Promise<Core> {
  const database = new Database(options.databaseUrl);
  const log = new EventLog(options.eventStoreUrl);
  try {
    return await assemble(options, database, log);
  } catch (error) {
    await log.close();
    await database.close();
    throw error;
  }
}

async function assemble(
  { config, databaseUrl, logger }: CoreOptions,
  database: Database,
  log: EventLog,
): Promise<Core> {
  const clock = new SystemClock();
  const faults = new FaultPoints();
  const registry = createEventRegistry();
  const names = new StreamNames(config.streamPrefix);

  await migrate(databaseUrl);
  const logId = await logIdentity(log, registry, names, clock);
  const head = async (): Promise<bigint> => (await log.head()) ?? NOTHING_APPLIED;
  await prepareSet(databaseUrl, setVersion, projectionSet, { id: logId, head });

  const watch = new CheckpointWatch(database, setVersion);
  const snapshots = new SnapshotTable(database, logId);
  const parked = new ParkedStreams(database, setVersion);
  const ports = {
    log,
    registry,
    clock,
    faults,
    snapshots,
    checkpoint: () => watch.position,
    isParked: (stream: string) => parked.has(stream),
  };
  const sessionStore = new SessionStore(ports);
  const agentStore = new AgentStore(ports);
  const sessions = new SessionCommands(sessionStore, names);
  const leases = leaseDatabase(databaseUrl);
  const engine = new ProjectionEngine({
    log,
    store: new PostgresSet({ database, setVersion, projections: projectionSet, faults }),
    lease: new Ownership(leases, setVersion, v4()),
    scheduler: systemScheduler,
    registry,
    names,
    projections: projectionSet,
    limits: ENGINE_LIMITS,
    watch,
    faults,
    parking: parked,
    build: thisBuild(),
    logger,
  });
  const reactor = new ChildReactor(database, schema, sessions, watch, logger);
  engine.onOwnership((owned) => (owned ? reactor.start() : void reactor.stop()));
  watch.onParking(() => void parked.look());
  await watch.start();
  await parked.start();
  engine.start();
  const control =
    config.controlSocket === null ? null : await ControlSocket.listen(config.controlSocket, faults, clock);

  return {
    clock,
    faults,
    names,
    sessionStore,
    agentStore,
    sessions,
    runner: new CommandRunner(database, new CommandKeys(database, schema), new InFlightKeys(), watch),
    readModels: new ReadModels(database, schema, watch, log),
    parked,
    promptHolders: new PromptHolders(database, schema, log, watch),
    health: new Health(log, database, engine, watch, parked, setVersion),
    close: async () => {
      await control?.close();
      await reactor.stop();
      await engine.stop();
      await watch.stop();
      parked.stop();
      await leases.close();
      await log.close();
      await database.close();
    },
  };
}
