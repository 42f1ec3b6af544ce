import { v4 } from 'uuid';
import { projectionSet } from '../projections/projection-set.js';
import { AgentStore } from './agents/aggregate.js';
import { AuditLauncher } from './audits/audit-launcher.js';
import { AuditRegister } from './audits/audit-register.js';
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
import { EventReader } from './projection-engine/event-reader.js';
import { ENGINE_LIMITS } from './projection-engine/limits.js';
import { leaseDatabase, Ownership } from './projection-engine/ownership.js';
import { FirstFill } from './projection-engine/fill/first-fill.js';
import { UnusedSets } from './projection-engine/unused-sets.js';
import { ParkedStreams } from './projection-engine/parked-streams.js';
import { PostgresSet } from './projection-engine/postgres-set.js';
import { systemScheduler } from './projection-engine/scheduler.js';
import { NOTHING_APPLIED, prepareSet } from './projection-engine/set-schema.js';
import { checkLog } from './projection-engine/standing-sets.js';
import { SET_SCHEMA as schema, SET_VERSION as setVersion } from './projection-engine/this-set.js';
import { thisBuild } from './projection-engine/this-build.js';
import { reactions } from './reactors/reactions.js';
import { ReactorHome } from './reactors/reactor-home.js';
import { ToDoList } from './reactors/to-do-list.js';
import { ReadModels } from './read-models/read-models.js';
import { SessionStore } from './sessions/aggregate.js';
import { Cascade } from './sessions/cascade.js';
import { CommandedCascade } from './sessions/commanded-cascade.js';
import { DeletedSubtrees } from './sessions/deleted-subtrees.js';
import { SessionCommands } from './sessions/session-commands.js';

/** Everything under the HTTP layer of one node. */
export interface Core {
  readonly clock: SystemClock;
  readonly faults: FaultPoints;
  readonly names: StreamNames;
  readonly sessionStore: SessionStore;
  readonly agentStore: AgentStore;
  readonly sessions: SessionCommands;
  readonly deletedSubtrees: DeletedSubtrees;
  readonly cascade: CommandedCascade;
  readonly runner: CommandRunner;
  readonly readModels: ReadModels;
  readonly parked: ParkedStreams;
  readonly promptHolders: PromptHolders;
  readonly health: Health;
  readonly audits: AuditRegister;
  readonly auditLauncher: AuditLauncher;
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
  { config, eventStoreUrl, databaseUrl, logger }: CoreOptions,
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
  await checkLog(databaseUrl, { id: logId, head });
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
  const deletedSubtrees = new DeletedSubtrees(database, schema, watch);
  const sessions = new SessionCommands(sessionStore, names, deletedSubtrees);
  const walks = new Cascade(sessions, faults);
  const leases = leaseDatabase(databaseUrl);
  const audits = new AuditRegister(database);
  const place = { eventStoreUrl, databaseUrl, streamPrefix: config.streamPrefix };
  const auditLauncher = new AuditLauncher(audits, place, logger);
  const reader = new EventReader(registry, names);
  const firstFill = new FirstFill({
    log,
    database,
    reader,
    names,
    projections: projectionSet,
    setVersion,
    logger,
  });
  const unusedSets = new UnusedSets(databaseUrl, setVersion, logger);
  const engine = new ProjectionEngine({
    log,
    store: new PostgresSet({ database, setVersion, projections: projectionSet, faults }),
    lease: new Ownership(leases, setVersion, v4()),
    scheduler: systemScheduler,
    reader,
    names,
    projections: projectionSet,
    limits: ENGINE_LIMITS,
    watch,
    faults,
    parking: parked,
    fill: (...filling) => firstFill.run(...filling),
    build: thisBuild(),
    logger,
  });
  watch.onParking(() => void parked.look());
  const reactors = new ReactorHome({
    list: new ToDoList(database, setVersion),
    reactions: reactions(sessions, walks),
    checkpoint: () => watch.position,
    isLive: () => engine.state === 'live',
    scheduler: systemScheduler,
    logger,
  });
  engine.onOwnership((epoch) => (epoch === null ? void reactors.stop() : reactors.start(epoch)));
  engine.onOwnership((epoch) => unusedSets.owned(epoch !== null));
  await watch.start();
  await parked.start();
  await deletedSubtrees.start();
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
    deletedSubtrees,
    cascade: new CommandedCascade(walks, sessions),
    runner: new CommandRunner(database, new CommandKeys(database, schema), new InFlightKeys(), watch),
    readModels: new ReadModels(database, schema, watch, log),
    parked,
    promptHolders: new PromptHolders(database, schema, log, watch),
    health: new Health(log, database, engine, watch, parked, reactors, setVersion),
    audits,
    auditLauncher,
    close: async () => {
      await auditLauncher.stop();
      await control?.close();
      await reactors.stop();
      await engine.stop();
      await watch.stop();
      parked.stop();
      deletedSubtrees.stop();
      await leases.close();
      await log.close();
      await database.close();
    },
  };
}
