import type { AnyProjection } from '../../projections/projection-set.js';
import type { EventRegistry } from '../event-store/event-registry.js';
import type { StreamNames } from '../event-store/stream-names.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { EngineLife } from './engine-life.js';
import type { ParkedStream } from './parking.js';
import type { CheckpointSink, LogFollower, SetLease, SetStore } from './ports.js';
import type { Scheduler } from './scheduler.js';

const STAND_BY_MS = 500;
const FIRST_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 5_000;

export interface EngineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EngineOptions {
  readonly log: LogFollower;
  readonly store: SetStore;
  readonly lease: SetLease;
  readonly scheduler: Scheduler;
  readonly registry: EventRegistry;
  readonly names: StreamNames;
  readonly projections: readonly AnyProjection[];
  readonly watch: CheckpointSink;
  readonly faults: FaultPoints;
  readonly onParked: (stream: ParkedStream) => void;
  readonly logger: EngineLog;
}

export type EngineState = 'standing-by' | 'catching-up' | 'live' | 'recovering' | 'stopped';

/**
 * Feeds the set from the log, one life after another: own the set, follow from the committed checkpoint, apply batches.
 * Whatever goes wrong ends the life; the next one starts from what was committed.
 */
export class ProjectionEngine {
  private running: Promise<void> = Promise.resolve();
  private stopping = false;
  private interrupt: () => void = () => undefined;
  private current: EngineState = 'standing-by';
  private readonly listeners: ((epoch: bigint | null) => void)[] = [];

  constructor(private readonly options: EngineOptions) {}

  get state(): EngineState {
    return this.current;
  }

  /** Told the epoch when this node begins to own the set, and null when that ends; reactors run only in between. */
  onOwnership(listener: (epoch: bigint | null) => void): void {
    this.listeners.push(listener);
  }

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.interrupt();
    await this.running;
    this.current = 'stopped';
  }

  private async run(): Promise<void> {
    let backOff = FIRST_BACK_OFF_MS;
    while (!this.stopping) {
      const outcome = await this.attempt();
      if (outcome === 'standing-by') {
        await this.pause(STAND_BY_MS);
        continue;
      }
      backOff = outcome === 'worked' ? FIRST_BACK_OFF_MS : Math.min(backOff * 2, MAX_BACK_OFF_MS);
      if (!this.stopping) await this.pause(backOff * (0.5 + this.options.scheduler.random()));
    }
  }

  private async attempt(): Promise<'standing-by' | 'worked' | 'failed'> {
    let life: EngineLife | null = null;
    try {
      const epoch = await this.options.lease.acquire();
      if (epoch === null) {
        this.current = 'standing-by';
        return 'standing-by';
      }
      life = this.begin(epoch);
      await life.live();
    } catch (error) {
      this.options.logger.warn({ err: error }, 'the projection engine starts over');
      this.current = 'recovering';
    }
    return life && life.applied > 0 ? 'worked' : 'failed';
  }

  private begin(epoch: bigint): EngineLife {
    this.current = 'catching-up';
    const life = new EngineLife(this.options, epoch, {
      caughtUp: () => {
        this.current = 'live';
      },
      owned: (owned) => {
        for (const listener of this.listeners) listener(owned ? epoch : null);
      },
    });
    this.interrupt = () => life.stop();
    if (this.stopping) life.stop();
    return life;
  }

  private async pause(milliseconds: number): Promise<void> {
    if (this.stopping) return;
    await new Promise<void>((resolve) => {
      const callOff = this.options.scheduler.after(milliseconds, resolve);
      this.interrupt = () => {
        callOff();
        resolve();
      };
    });
  }
}
