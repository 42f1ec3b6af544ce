import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedRow, RowKey } from '../../projections/projection.js';
import type { ParkedStream } from '../../src/projection-engine/parking.js';
import type { RowChange, SetConnection } from '../../src/projection-engine/ports.js';
import { Fenced } from '../../src/projection-engine/set-writer.js';
import { isUnstorable } from './poison.js';
import { type Answer, roundTrip } from './round-trip.js';
import type { SimulatedDatabase } from './simulated-database.js';
import type { Machine } from './simulator.js';

/** An owner that hangs inside its transaction loses the connection. */
const IDLE_IN_TRANSACTION_MS = 2_000;
const LIMIT_MS = 30_000;

export type CommitPhase = 'before' | 'between' | 'after';

const GONE = new Error('the connection to the database is gone');

interface Write {
  readonly changes: readonly RowChange[];
  readonly parked: readonly ParkedStream[];
  readonly upTo: bigint;
}

export class SimulatedConnection implements SetConnection {
  private open = true;
  private refuse: (() => void)[] = [];
  private endTransaction: () => void = () => undefined;

  constructor(
    private readonly database: SimulatedDatabase,
    readonly machine: Machine,
    readonly epoch: bigint,
    private readonly lost: (error: Error) => void,
  ) {}

  checkpoint(): Promise<bigint> {
    return this.ask('checkpoint', (answer) => answer({ value: this.database.checkpoint }));
  }

  load(projection: AnyProjection, keys: readonly RowKey[]): Promise<ProjectedRow[]> {
    return this.ask(`load ${keys.length} of ${projection.name}`, (answer) =>
      answer({ value: this.database.tables.load(projection, keys) }),
    );
  }

  commit(changes: readonly RowChange[], parked: readonly ParkedStream[], upTo: bigint): Promise<void> {
    return this.ask(`commit up to ${upTo}`, (answer) => {
      this.database.onPhase(this, 'before');
      if (!this.open) return;
      if (this.database.lease.epoch !== this.epoch) return answer({ error: new Fenced() });
      if (isUnstorable(changes))
        return answer({ error: Object.assign(new Error('too long for an index'), { code: '54000' }) });
      this.database.share(this);
      const write = { changes, parked, upTo };
      if (parked.length === 0 && this.database.simulator.chance(0.7)) this.inOneStatement(write, answer);
      else this.inTransaction(write, answer);
    });
  }

  /** Retries are no part of the simulation: nobody asks for one. */
  commitLate(): Promise<void> {
    return Promise.reject(new Error('nothing is retried'));
  }

  retryRequested(): Promise<null> {
    return Promise.resolve(null);
  }

  postponeRetry(): Promise<void> {
    return Promise.reject(new Error('nothing is retried'));
  }

  takeOver(): Promise<number> {
    return this.ask('take over', (answer) => answer({ value: 0 }));
  }

  markFilled(): Promise<void> {
    return this.ask('mark filled', (answer) => {
      this.database.markFilled(this.machine);
      answer({ value: undefined });
    });
  }

  close(): Promise<void> {
    this.end();
    return new Promise((resolve) =>
      this.database.simulator.after(1, this.machine, 'connection closed', resolve),
    );
  }

  /** The connection is lost, and both sides hear of it, the machine unless it lies behind a hole. */
  cut(): void {
    if (!this.open) return;
    this.end();
    if (this.machine.databaseHole) return;
    const { simulator } = this.database;
    simulator.after(simulator.latency(), this.machine, 'loses its database connection', () => {
      this.lost(GONE);
      for (const refuse of this.refuse) refuse();
    });
  }

  /** The client is no more: whatever it had open is rolled back. */
  drop(): void {
    if (this.open) this.end();
  }

  /** What the server has begun it carries to its end, whatever becomes of the client. */
  private inOneStatement(write: Write, answer: Answer<void>): void {
    const { database } = this;
    database.simulator.after(
      database.simulator.between(0, 20),
      null,
      `${this.machine.name}'s statement`,
      () => this.finish(write, answer),
    );
  }

  /** Rows are written, the client has to say COMMIT. Until then the lock on the lease is held. */
  private inTransaction(write: Write, answer: Answer<void>): void {
    const { simulator } = this.database;
    let running = true;
    const abort = (): void => {
      running = false;
      this.database.unshare(this);
    };
    const callOff = simulator.after(
      IDLE_IN_TRANSACTION_MS,
      null,
      `${this.machine.name} idle in transaction`,
      () => {
        if (running) this.cut();
      },
    );
    this.endTransaction = () => {
      callOff();
      if (running) abort();
    };
    this.database.onPhase(this, 'between');
    simulator.after(simulator.latency(), this.machine, 'says COMMIT', () => {
      if (this.machine.databaseHole) return;
      simulator.after(simulator.latency(), null, `${this.machine.name}'s COMMIT`, () => {
        if (!running) return;
        running = false;
        callOff();
        this.finish(write, answer);
      });
    });
  }

  private finish({ changes, parked, upTo }: Write, answer: Answer<void>): void {
    if (!this.database.up) return this.database.unshare(this);
    this.database.commit(this, changes, parked, upTo);
    this.database.unshare(this);
    this.database.onPhase(this, 'after');
    if (this.open) answer({ value: undefined });
  }

  private end(): void {
    this.open = false;
    this.database.connections.delete(this);
    this.endTransaction();
  }

  private ask<T>(what: string, work: (answer: Answer<T>) => void): Promise<T> {
    if (!this.open) return Promise.reject(GONE);
    const answered = roundTrip<T>(this.database.simulator, {
      machine: this.machine,
      what,
      hole: () => this.machine.databaseHole,
      limit: LIMIT_MS,
      work: (answer) => {
        if (this.open) work(answer);
      },
    });
    const refused = new Promise<never>((_, reject) => this.refuse.push(() => reject(GONE)));
    return Promise.race([answered, refused]);
  }
}
