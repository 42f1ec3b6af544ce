import fc from 'fast-check';
import { projectionSet } from '../../projections/projection-set.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { history } from '../properties/histories.js';
import { strike, strikeCommit } from './faults.js';
import { type Poison, poisonAfter, tripwireProjection } from './poison.js';
import { SimulatedDatabase } from './simulated-database.js';
import { SimulatedLog } from './simulated-log.js';
import { type SimulatedNode, startNode } from './simulated-node.js';
import { type Machine, Simulator } from './simulator.js';
import { StraightFold } from './straight-fold.js';

const FAULTS_UNTIL_MS = 20_000;
/** When faults cease the set must reach the head within this. */
const RECOVERY_MS = 60_000;
const STOP_MS = 40_000;
/** A lease and two calls that take too long: by then a former owner must know that it is one, whatever it can reach. */
const UNKNOWING_MS = 9_000;
/** Between two events of a history. */
const SPACING = 10n;
const projections = [...projectionSet, tripwireProjection];

/** One run: a few engines on one log and one database, and what goes wrong around them. */
export class Simulation {
  readonly simulator: Simulator;
  readonly log: SimulatedLog;
  readonly database: SimulatedDatabase;
  readonly nodes: SimulatedNode[] = [];
  private readonly fold: StraightFold;
  private readonly events: readonly RawEvent[];
  private started = 0;
  private ending = false;
  private isHarmless = false;

  constructor(seed: number) {
    this.simulator = new Simulator(seed, FAULTS_UNTIL_MS);
    this.events = this.makeHistory(seed);
    this.log = new SimulatedLog(this.simulator, () => this.isHostile);
    this.fold = new StraightFold(this.simulator, projections, this.log, () => this.database, this.events);
    this.database = new SimulatedDatabase(this.simulator, projections, this.fold);
  }

  get isHostile(): boolean {
    return this.simulator.now < FAULTS_UNTIL_MS;
  }

  async run(): Promise<void> {
    const { simulator } = this;
    this.planAppends();
    this.planNodes();
    this.planFaults();
    simulator.after(FAULTS_UNTIL_MS, null, 'calm', () => this.calm());
    await simulator.runUntil('calm', FAULTS_UNTIL_MS, () => !this.isHostile);
    await simulator.runUntil('the set reaches the head', simulator.now + RECOVERY_MS, () => this.isAtHead());
    await this.endAll();
  }

  anyNode(): SimulatedNode {
    const node = this.simulator.pick(this.nodes);
    if (!node) throw new Error('no node');
    return node;
  }

  kill(node: SimulatedNode): void {
    this.simulator.note(`  ${node.machine.name} is killed`);
    node.machine.dead = true;
    for (const connection of this.database.connections)
      if (connection.machine === node.machine) connection.drop();
    this.replace(node);
  }

  /** As by SIGSTOP and SIGCONT. */
  pause({ machine }: SimulatedNode, milliseconds: number): void {
    this.simulator.note(`  ${machine.name} stands still for ${milliseconds} ms`);
    machine.stopped = true;
    this.simulator.after(milliseconds, null, `${machine.name} goes on`, () => this.wake(machine));
  }

  stopGracefully(node: SimulatedNode): void {
    this.simulator.note(`  ${node.machine.name} is asked to stop`);
    this.nodes.splice(this.nodes.indexOf(node), 1);
    void node.engine.stop();
    this.startLater();
  }

  swallow({ machine }: SimulatedNode, hole: 'databaseHole' | 'logHole', milliseconds: number): void {
    this.simulator.note(`  ${machine.name} has a ${hole} for ${milliseconds} ms`);
    machine[hole] = true;
    this.simulator.after(milliseconds, null, `${machine.name}'s ${hole} ends`, () => (machine[hole] = false));
  }

  private replace(node: SimulatedNode): void {
    this.nodes.splice(this.nodes.indexOf(node), 1);
    this.startLater();
  }

  private startLater(): void {
    const start = (): void => {
      if (!this.ending) this.nodes.push(this.startNode());
    };
    // There is always one to strike.
    if (this.nodes.length === 0) start();
    else this.simulator.after(this.simulator.between(0, 5_000), null, 'a node starts', start);
  }

  private startNode(): SimulatedNode {
    this.started += 1;
    const { simulator, log, database, fold } = this;
    return startNode(`node${this.started}`, { simulator, log, database, fold, projections });
  }

  private planNodes(): void {
    this.nodes.push(this.startNode());
    for (let more = this.simulator.between(0, 2); more > 0; more -= 1) this.startLater();
  }

  private planAppends(): void {
    const { simulator } = this;
    let from = 0;
    const append = (count: number): void => {
      this.log.append(this.events.slice(from, from + count));
      from += count;
    };
    append(simulator.between(0, this.events.length));
    for (let planned = from; planned < this.events.length;) {
      const count = simulator.between(1, 12);
      planned += count;
      simulator.after(simulator.between(0, FAULTS_UNTIL_MS - 1), null, 'something is appended', () =>
        append(count),
      );
    }
  }

  private planFaults(): void {
    const { simulator, database } = this;
    const perCommit = simulator.pick([0, 0.02, 0.1]) ?? 0;
    database.onRenewed = (owner) => this.checkOwners(owner);
    database.onPhase = (connection) => {
      if (this.isHostile) strikeCommit(this, connection, perCommit);
    };
    const planned = simulator.between(0, 12);
    this.isHarmless = planned === 0 && perCommit === 0;
    for (let count = planned; count > 0; count -= 1)
      simulator.after(simulator.between(0, FAULTS_UNTIL_MS - 1), null, 'a fault', () => strike(this));
  }

  private wake(machine: Machine): void {
    machine.stopped = false;
    machine.wokenAt = this.simulator.now;
  }

  /** Reactors run where an engine says that it owns the set. */
  private checkOwners(owner: Machine): void {
    const { simulator, database } = this;
    for (const { machine, engine } of this.nodes) {
      const unknowing = simulator.now - Math.max(database.takenAt, machine.wokenAt);
      if (machine !== owner && !machine.stopped && engine.owns && unknowing > UNKNOWING_MS)
        simulator.violated(
          `${machine.name} still thinks that it owns the set, ${unknowing} ms after it lost it`,
        );
    }
  }

  private calm(): void {
    for (const { machine } of this.nodes) {
      this.wake(machine);
      machine.databaseHole = false;
      machine.logHole = false;
    }
  }

  private isAtHead(): boolean {
    const last = this.events.at(-1)?.position ?? -1n;
    return (
      this.log.events.length === this.events.length &&
      this.database.checkpoint >= last &&
      this.database.filled &&
      this.nodes.filter(({ engine }) => engine.owns).length === 1 &&
      this.nodes.every(({ engine }) => engine.state === (engine.owns ? 'live' : 'standing-by'))
    );
  }

  private async endAll(): Promise<void> {
    const { simulator } = this;
    this.ending = true;
    let running = this.nodes.length;
    for (const { engine } of this.nodes) void engine.stop().then(() => (running -= 1));
    await simulator.runUntil('all engines stop', simulator.now + STOP_MS, () => running === 0);
    for (const { machine } of this.nodes) {
      const left = simulator.tasksOf(machine).filter((what) => what === 'timer' || what === 'interval');
      if (left.length > 0) throw simulator.told(`${machine.name} left timers behind: ${left.join(', ')}`);
    }
    const { owner } = this.database.lease;
    // After a fault a lease may have to run out.
    if (this.isHarmless && owner !== null)
      throw simulator.told(`${owner} has stopped and still owns the set`);
  }

  private makeHistory(seed: number): readonly RawEvent[] {
    const { simulator } = this;
    const [appends = []] = fc.sample(history, { seed, numRuns: 1 });
    const healthy = appends.flat().map((raw) => ({ ...raw, position: raw.position * SPACING }));
    const hosts = new Set<RawEvent>();
    if (simulator.chance(0.5)) {
      for (let count = simulator.between(1, 4); count > 0; count -= 1) {
        const host = simulator.pick(healthy);
        if (host) hosts.add(host);
      }
    }
    return healthy.flatMap((raw) => (hosts.has(raw) ? [raw, poisonAfter(raw, this.anyPoison())] : [raw]));
  }

  private anyPoison(): Poison {
    return this.simulator.pick<Poison>(['unknown-type', 'unstorable', 'tripwire']) ?? 'tripwire';
  }
}
