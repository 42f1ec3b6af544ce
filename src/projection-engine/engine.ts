import type { AnyProjection } from '../../projections/projection-set.js';
import type { StreamNames } from '../event-store/stream-names.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { EngineFigures } from './engine-figures.js';
import { EngineLife } from './engine-life.js';
import type { EventReader } from './event-reader.js';
import type { EngineLimits } from './limits.js';
import type { CheckpointSink, LogFollower, ParkingSink, SetLease, SetStore } from './ports.js';
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
  readonly reader: EventReader;
  readonly names: StreamNames;
  readonly projections: readonly AnyProjection[];
  readonly limits: EngineLimits;
  readonly watch: CheckpointSink;
  readonly faults: FaultPoints;
  readonly parking: ParkingSink;
  /** Brings a set that was never filled near the head, before the owner follows the log. Throws when the signal is aborted. */
  readonly fill: (epoch: bigint, signal: AbortSignal, onPassedOver: (type: string) => void) => Promise<void>;
  /** Names the code that runs here: another build gives parked streams another chance. */
  readonly build: string;
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
  private owning = false;
  private readonly listeners: ((epoch: bigint | null) => void)[] = [];

  readonly figures: EngineFigures;

  constructor(private readonly options: EngineOptions) {
    this.figures = new EngineFigures(options.scheduler);
  }

  get state(): EngineState {
    return this.current;
  }

  /** Whether this node feeds the set. */
  get owns(): boolean {
    return this.owning;
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
      // Who has just lost the set may be the one that cannot reach the log, and must not be first to take it again.
      if (this.current === 'recovering') await this.options.log.newest(this.options.names.projected());
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
      this.figures.retried();
    }
    return life && life.applied > 0 ? 'worked' : 'failed';
  }

  private begin(epoch: bigint): EngineLife {
    this.current = 'catching-up';
    const life = new EngineLife(this.options, epoch, this.figures, {
      caughtUp: () => {
        this.current = 'live';
      },
      lost: () => {
        this.current = 'recovering';
      },
      owned: (owned) => {
        this.owning = owned;
        for (const listener of this.listeners) listener(owned ? epoch : null);
      },
      passedOver: (type) => {
        if (this.figures.passedOver(type) === 1)
          this.options.logger.info({ eventType: type }, 'events of this type are passed over');
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
