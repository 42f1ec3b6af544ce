import { isDeepStrictEqual } from 'node:util';
import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedRow } from '../../projections/projection.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { read } from '../properties/histories.js';
import { MemoryTables } from '../support/specifications/memory-tables.js';
import { isPoison } from './poison.js';
import type { CommitWatch, SimulatedDatabase } from './simulated-database.js';
import type { SimulatedLog } from './simulated-log.js';
import { keyNameOf, keyOf } from './simulated-tables.js';
import type { Machine, Simulator } from './simulator.js';

/** What must hold after every commit and every crash, whatever happened before. */
export class StraightFold implements CommitWatch {
  private tables: MemoryTables;
  private upTo = -1n;
  private next = 0;
  private newestEpoch = 0n;
  private highest = -1n;
  /** The first event of a stream that cannot be applied: from there on the stream is parked. */
  private readonly cuts = new Map<string, RawEvent>();
  /** Pairs of rows that were found equal before. */
  private readonly equal = new WeakMap<ProjectedRow, ProjectedRow>();

  constructor(
    private readonly simulator: Simulator,
    private readonly projections: readonly AnyProjection[],
    private readonly log: SimulatedLog,
    private readonly database: () => SimulatedDatabase,
    history: readonly RawEvent[],
  ) {
    this.tables = new MemoryTables(projections);
    for (const raw of history) {
      if (isPoison(raw) && !this.cuts.has(raw.stream)) this.cuts.set(raw.stream, raw);
    }
  }

  committed(by: { readonly machine: Machine; readonly epoch: bigint } | null): void {
    const { checkpoint, lease } = this.database();
    if (by === null) this.startOver();
    else {
      if (checkpoint < this.upTo) this.wrong(`the checkpoint goes back from ${this.upTo} to ${checkpoint}`);
      if (by.epoch !== lease.epoch || by.epoch < this.newestEpoch)
        this.wrong(`epoch ${by.epoch} writes after epoch ${this.newestEpoch}, the owner has ${lease.epoch}`);
      this.newestEpoch = by.epoch;
    }
    if (checkpoint > this.log.head) this.wrong(`the checkpoint ${checkpoint} is beyond the log`);
    this.foldUpTo(checkpoint);
    if (checkpoint > this.highest) this.highest = checkpoint;
    this.compareTables();
    this.compareParked();
  }

  filled(machine: Machine): void {
    const { checkpoint } = this.database();
    const heads = [this.log.subscriptionOf(machine)?.caughtUpAt, this.log.headTold.get(machine)];
    if (!heads.some((head) => typeof head === 'bigint' && head <= checkpoint))
      this.wrong(`the set counts as filled at ${checkpoint}, though the log had ${heads.join(' or ')}`);
  }

  /** A node says that this much can be read. */
  told(machine: Machine, position: bigint): void {
    if (position > this.highest)
      this.wrong(`${machine.name} tells ${position}, but no more than ${this.highest} was ever committed`);
  }

  private startOver(): void {
    this.tables = new MemoryTables(this.projections);
    this.upTo = -1n;
    this.next = 0;
  }

  private foldUpTo(checkpoint: bigint): void {
    const events: RawEvent[] = [];
    for (let raw = this.log.events[this.next]; raw && raw.position <= checkpoint;) {
      if (!this.isCut(raw)) events.push(raw);
      raw = this.log.events[(this.next += 1)];
    }
    this.tables.apply(events.map(read));
    this.upTo = checkpoint;
  }

  private isCut({ stream, position }: RawEvent): boolean {
    const cut = this.cuts.get(stream);
    return cut !== undefined && position >= cut.position;
  }

  private compareTables(): void {
    for (const projection of this.projections) {
      const found = this.database().tables.rows(projection);
      const expected = this.tables.rowsOf(projection);
      if (found.size !== expected.length)
        this.wrong(`${projection.name} has ${found.size} rows at ${this.upTo}, not ${expected.length}`);
      for (const row of expected) {
        const name = keyNameOf(keyOf(projection, row));
        const standing = found.get(name);
        if (standing && this.equal.get(row) === standing) continue;
        if (!standing || !isDeepStrictEqual(standing, row))
          this.wrong(`${projection.name} ${name} at ${this.upTo}: ${told(standing)} instead of ${told(row)}`);
        else this.equal.set(row, standing);
      }
    }
  }

  private compareParked(): void {
    const expected = [...this.cuts.values()].filter(({ position }) => position <= this.upTo);
    const { parked } = this.database();
    const tell = (list: readonly { stream: string; position: bigint }[]): string =>
      list
        .map(({ stream, position }) => `${stream}@${position}`)
        .sort()
        .join(' ');
    const [is, should] = [tell([...parked.values()]), tell(expected)];
    if (is !== should) this.wrong(`parked at ${this.upTo}: "${is}" instead of "${should}"`);
  }

  private wrong(what: string): void {
    this.simulator.violated(what);
  }
}

function told(row: ProjectedRow | undefined): string {
  return (
    JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)) ??
    'no row'
  );
}
