import { v4 } from 'uuid';
import { Database } from '../../database/database.js';
import { underLock } from '../../database/migrate.js';
import type { Position } from '../../event-store/position.js';
import { HeldLease } from '../held-lease.js';
import { LEASE_MS, Ownership, RENEW_MS } from '../ownership.js';
import { parkedDetails } from '../parked-table.js';
import type { ParkedStream } from '../parking.js';
import { NOTHING_APPLIED, prepareSet } from '../set-schema.js';
import { Fenced } from '../set-writer.js';
import { schemaOf } from '../set-version.js';
import { FILL_LIMITS, type FillerOptions, type FillLimits, SetFiller } from './set-filler.js';

export interface ShadowSetOptions extends Omit<
  FillerOptions,
  'database' | 'setVersion' | 'epoch' | 'onParked' | 'onPassedOver' | 'limits'
> {
  readonly url: string;
  /** Names the schema; letters, digits and underscores. */
  readonly version: string;
  readonly logId: string;
  readonly limits?: FillLimits;
  /** What is there is dropped, whatever log it belongs to. */
  readonly afresh?: boolean;
}

const POLL_MS = 100;

/** Another process fills the same shadow set. */
export class ShadowSetInUse extends Error {
  constructor() {
    super('another process is at the same work');
    this.name = 'ShadowSetInUse';
  }
}

/**
 * A set of tables beside the live one, folded from the log by one process under a lease. One that a process left behind
 * is gone on with from its checkpoint.
 */
export class ShadowSet {
  readonly schema: string;
  /** What this fold parked by itself, now or before it was cut short. */
  readonly parked: ParkedStream[];
  /** Events of types that mean nothing (any more), by type, that this process has met. */
  readonly passedOver: ReadonlyMap<string, number>;

  private constructor(
    private readonly options: ShadowSetOptions,
    private readonly lease: HeldLease,
    private readonly database: Database,
    private readonly filler: SetFiller,
    private readonly leftOut: Map<string, Position>,
    parked: readonly ParkedStream[],
    passedOver: ReadonlyMap<string, number>,
  ) {
    this.schema = schemaOf(options.version);
    this.parked = [...parked];
    this.passedOver = passedOver;
  }

  /** Throws `ShadowSetInUse`, `ForeignLog` when what is there was folded from another log, or what Postgres says. */
  static async open(options: ShadowSetOptions): Promise<ShadowSet> {
    const { url, version, projections, logId, log, signal } = options;
    const database = new Database(url, 1);
    const ownership = new Ownership(database, version, v4());
    let lease: HeldLease | null = null;
    try {
      lease = new HeldLease(ownership, await acquire(ownership, signal));
      if (options.afresh === true) await dropTables(url, version, lease);
      const head = async (): Promise<Position> => (await log.head()) ?? NOTHING_APPLIED;
      await prepareSet(url, version, projections, { id: logId, head });
      const parked = await parkedDetails(database, version);
      const shadow: { set?: ShadowSet } = {};
      const passedOver = new Map<string, number>();
      const leftOut = new Map([
        ...options.parked,
        ...parked.map(({ stream, position }) => [stream, position] as const),
      ]);
      const filler = await SetFiller.open({
        ...options,
        database,
        limits: options.limits ?? FILL_LIMITS,
        setVersion: version,
        epoch: lease.epoch,
        signal: AbortSignal.any([signal, lease.signal]),
        parked: leftOut,
        onParked: (stream) => shadow.set?.parked.push(stream),
        onPassedOver: (type) => passedOver.set(type, (passedOver.get(type) ?? 0) + 1),
      });
      return (shadow.set = new ShadowSet(options, lease, database, filler, leftOut, parked, passedOver));
    } catch (error) {
      await lease?.release();
      await database.close();
      throw error;
    }
  }

  /** The fold of everything at or before it is in the tables. */
  get position(): Position {
    return this.filler.position;
  }

  /** Leaves a stream's events out from a position on that is not folded yet. */
  leaveOut(stream: string, from: Position): void {
    this.leftOut.set(stream, from);
  }

  /** As `SetFiller.fillTo`; `Fenced` when the lease was lost. */
  fillTo(upTo: Position): Promise<void> {
    return this.filler.fillTo(upTo);
  }

  /** Without statistics whoever reads the tables first would have them read row by row. */
  analyze(): Promise<void> {
    return this.filler.analyze();
  }

  /** The set holds all that the log held: from now on it can be read. */
  async markFilled(): Promise<void> {
    await this.analyze();
    await this.database.query('shadow-filled', `UPDATE ${this.schema}.checkpoint SET filled = true`);
  }

  /** Ends the work and leaves the tables, to be gone on with. */
  async close(): Promise<void> {
    await this.filler.close();
    await this.lease.release();
    await this.database.close();
  }

  /** Ends the work and removes the tables. Throws `Fenced` when they belong to another process by now. */
  async drop(): Promise<void> {
    await this.filler.close();
    // Under the lease, so that nobody begins the same work on tables that are about to go.
    try {
      await dropTables(this.options.url, this.options.version, this.lease);
    } finally {
      await this.close();
    }
  }
}

/** One whose process was killed is free as soon as its lease has run out. Throws `ShadowSetInUse` or the signal's reason. */
async function acquire(ownership: Ownership, signal: AbortSignal): Promise<bigint> {
  const until = performance.now() + LEASE_MS + RENEW_MS;
  for (;;) {
    signal.throwIfAborted();
    const epoch = await ownership.acquire();
    if (epoch !== null) return epoch;
    if (performance.now() > until) throw new ShadowSetInUse();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Removes a set's tables and what is parked in it. Its ownership stays: a former owner must find a higher epoch. */
async function dropTables(url: string, version: string, { epoch }: HeldLease): Promise<void> {
  await underLock(url, async (client) => {
    await client.query('BEGIN');
    await client.query(`DROP SCHEMA IF EXISTS ${schemaOf(version)} CASCADE`);
    await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = $1', [version]);
    // Last: others wait for the lock on the owner's row.
    const held = await client.query(
      'SELECT 1 FROM rollcall.projection_sets WHERE version = $1 AND epoch = $2 FOR SHARE',
      [version, epoch.toString()],
    );
    if (held.rowCount !== 1) throw new Fenced();
    await client.query('COMMIT');
  });
}
