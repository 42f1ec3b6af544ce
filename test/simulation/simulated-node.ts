import type { AnyProjection } from '../../projections/projection-set.js';
import { createEventRegistry } from '../../src/event-store/catalogue.js';
import { FaultPoints } from '../../src/fault-points/fault-points.js';
import { EventReader } from '../../src/projection-engine/event-reader.js';
import { ProjectionEngine } from '../../src/projection-engine/engine.js';
import { names } from '../properties/histories.js';
import type { SimulatedDatabase } from './simulated-database.js';
import type { SimulatedLog } from './simulated-log.js';
import type { Machine, Simulator } from './simulator.js';
import type { StraightFold } from './straight-fold.js';

const reader = new EventReader(createEventRegistry(), names);
/** Small, so that short histories fill batches and inboxes. */
const LIMITS = {
  batchEvents: 5,
  batchSpan: 1_000n,
  inboxHigh: 12,
  inboxLow: 4,
  inboxHighSpan: 3_000n,
  inboxLowSpan: 1_000n,
  keptRows: 8,
};

export interface SimulatedNode {
  readonly machine: Machine;
  readonly engine: ProjectionEngine;
  stopped: boolean;
}

export interface Surroundings {
  readonly simulator: Simulator;
  readonly log: SimulatedLog;
  readonly database: SimulatedDatabase;
  readonly projections: readonly AnyProjection[];
  readonly fold: StraightFold;
}

/** A process with the real engine in it. */
export function startNode(
  name: string,
  { simulator, log, database, projections, fold }: Surroundings,
): SimulatedNode {
  const machine: Machine = {
    name,
    stopped: false,
    dead: false,
    databaseHole: false,
    logHole: false,
    wokenAt: simulator.now,
  };
  const engine = new ProjectionEngine({
    log: log.follower(machine),
    store: database.storeFor(machine),
    lease: database.leaseFor(machine),
    scheduler: {
      now: () => simulator.now,
      random: () => simulator.random(),
      after: (milliseconds, work) => simulator.after(milliseconds, machine, 'timer', work),
      every: (milliseconds, work) => {
        let callOff = (): void => undefined;
        const again = (): void => {
          callOff = simulator.after(milliseconds, machine, 'interval', () => {
            again();
            work();
          });
        };
        again();
        return () => callOff();
      },
    },
    reader,
    names,
    projections,
    limits: LIMITS,
    watch: {
      restart: (position) => fold.told(machine, position),
      advance: (position) => fold.told(machine, position),
      markFilled: () => undefined,
    },
    faults: new FaultPoints(),
    fill: () => Promise.resolve(),
    build: name,
    parking: {
      get retryRequested() {
        return database.requests.size > 0;
      },
      parked: ({ stream, position }) => simulator.note(`  ${name} parks ${stream} from ${position} on`),
      freed: (stream) => simulator.note(`  ${name} frees ${stream}`),
      noneRequested: () => undefined,
      onRequest: () => undefined,
    },
    logger: {
      info: (_, message) => simulator.note(`  ${name}: ${message}`),
      warn: (fields, message) => simulator.note(`  ${name}: ${message} ${reasonIn(fields)}`),
    },
  });
  engine.start();
  return { machine, engine, stopped: false };
}

function reasonIn(fields: object): string {
  const error: unknown = Reflect.get(fields, 'err');
  return error instanceof Error ? error.message : '';
}
