import type { AnyProjection } from '../../projections/projection-set.js';
import type { ParkedStream } from '../../src/projection-engine/parking.js';
import type { RowChange, SetLease, SetStore } from '../../src/projection-engine/ports.js';
import { type Answer, roundTrip } from './round-trip.js';
import { type CommitPhase, SimulatedConnection } from './simulated-connection.js';
import { SimulatedTables } from './simulated-tables.js';
import type { Machine, Simulator } from './simulator.js';

const LEASE_MS = 3_000;
const LIMIT_MS = 2_000;

export const AWAY = new Error('the database is away');

export interface CommitWatch {
  /** After a commit, or after a crash took some back. */
  committed(by: { readonly machine: Machine; readonly epoch: bigint } | null): void;
  filled(machine: Machine): void;
}

interface Lease {
  owner: string | null;
  epoch: bigint;
  renewedAt: number;
}

/** A database as far as the engine sees it: transactions, row locks, its own clock, and commits that a crash takes back. */
export class SimulatedDatabase {
  readonly tables: SimulatedTables;
  checkpoint = -1n;
  filled = false;
  readonly parked = new Map<string, ParkedStream>();
  readonly lease: Lease = { owner: null, epoch: 0n, renewedAt: 0 };
  /** When the set last went to another machine. */
  takenAt = 0;
  up = true;
  /** The database's clock may be set forward or back. */
  clockOffset = 0;
  /** Told at each step of a commit, so that something may happen just then. */
  onPhase: (connection: SimulatedConnection, phase: CommitPhase) => void = () => undefined;
  onRenewed: (owner: Machine) => void = () => undefined;
  readonly connections = new Set<SimulatedConnection>();
  /** Who holds the row of the lease FOR SHARE, and who waits to change it. */
  private readonly sharing = new Set<SimulatedConnection>();
  private waiting: (() => void)[] = [];
  /** What a crash may take back, oldest first: commits that no synchronous one has followed yet. */
  private unsynced: (() => void)[] = [];

  constructor(
    readonly simulator: Simulator,
    projections: readonly AnyProjection[],
    private readonly watch: CommitWatch,
  ) {
    this.tables = new SimulatedTables(projections);
  }

  get clock(): number {
    return this.simulator.now + this.clockOffset;
  }

  storeFor(machine: Machine): SetStore {
    return {
      connect: (epoch, lost) =>
        this.ask(machine, 'connect', (answer) => {
          const connection = new SimulatedConnection(this, machine, epoch, lost);
          this.connections.add(connection);
          answer({ value: connection });
        }),
      parkedStreams: () =>
        this.ask(machine, 'parked streams', (answer) =>
          answer({
            value: new Map(
              [...this.parked].map(([stream, { position }]) => [stream, { position, retryRequested: false }]),
            ),
          }),
        ),
    };
  }

  leaseFor(machine: Machine): SetLease {
    const { lease } = this;
    const ours = (epoch: bigint): boolean => lease.owner === machine.name && lease.epoch === epoch;
    const change = <T>(what: string, work: () => T): Promise<T> =>
      this.ask(machine, what, (answer) =>
        this.whenUnshared(() => answer(this.up ? { value: work() } : { error: AWAY })),
      );
    return {
      acquire: () =>
        change('acquire', () => {
          const sinceRenewed = this.clock - lease.renewedAt;
          const free = lease.owner === null || lease.owner === machine.name;
          if (!free && sinceRenewed <= LEASE_MS && sinceRenewed >= -LEASE_MS) return null;
          if (lease.owner !== machine.name) this.takenAt = this.simulator.now;
          lease.owner = machine.name;
          lease.epoch += 1n;
          lease.renewedAt = this.clock;
          this.simulator.note(`  epoch ${lease.epoch} is ${machine.name}'s`);
          this.synchronize();
          return lease.epoch;
        }),
      renew: (epoch) =>
        change('renew', () => {
          if (!ours(epoch)) return false;
          lease.renewedAt = this.clock;
          this.synchronize();
          this.onRenewed(machine);
          return true;
        }),
      release: (epoch) =>
        change('release', () => {
          if (ours(epoch)) lease.owner = null;
          this.synchronize();
        }),
    };
  }

  /** The rest of a committed transaction: nothing of it is seen before, all of it after. */
  commit(
    by: SimulatedConnection,
    changes: readonly RowChange[],
    parked: readonly ParkedStream[],
    upTo: bigint,
  ): void {
    const undo = this.tables.apply(changes);
    for (const stream of parked) {
      if (this.parked.has(stream.stream)) continue;
      this.parked.set(stream.stream, stream);
      undo.unshift(() => this.parked.delete(stream.stream));
    }
    const before = this.checkpoint;
    if (before < upTo) this.checkpoint = upTo;
    this.unsynced.push(() => {
      for (const step of undo) step();
      this.checkpoint = before;
    });
    this.simulator.note(`  ${by.machine.name} commits up to ${upTo} under epoch ${by.epoch}`);
    this.watch.committed(by);
  }

  markFilled(machine: Machine): void {
    this.watch.filled(machine);
    const before = this.filled;
    this.filled = true;
    this.unsynced.push(() => (this.filled = before));
  }

  share(connection: SimulatedConnection): void {
    this.sharing.add(connection);
  }

  unshare(connection: SimulatedConnection): void {
    this.sharing.delete(connection);
    if (this.sharing.size > 0) return;
    const waiting = this.waiting;
    this.waiting = [];
    for (const work of waiting) work();
  }

  /** All connections end, and some of the last commits were never written to disk. */
  crash(downFor: number): void {
    if (!this.up) return;
    this.up = false;
    for (const connection of [...this.connections]) connection.cut();
    const lost = this.simulator.between(0, this.unsynced.length);
    for (const takeBack of this.unsynced.splice(this.unsynced.length - lost).reverse()) takeBack();
    this.synchronize();
    this.simulator.note(
      `  the database crashes, ${lost} commits are gone, the checkpoint is ${this.checkpoint}`,
    );
    this.watch.committed(null);
    this.simulator.after(downFor, null, 'the database is back', () => (this.up = true));
  }

  ask<T>(machine: Machine, what: string, work: (answer: Answer<T>) => void): Promise<T> {
    return roundTrip<T>(this.simulator, {
      machine,
      what,
      hole: () => machine.databaseHole,
      limit: LIMIT_MS,
      work: (answer) => (this.up ? work(answer) : answer({ error: AWAY })),
    });
  }

  private whenUnshared(work: () => void): void {
    if (this.sharing.size === 0) work();
    else this.waiting.push(work);
  }

  /** A synchronous commit: everything before it is on disk, too. */
  private synchronize(): void {
    this.unsynced = [];
  }
}
