import type { Database } from '../database/database.js';
import type { EventLog } from '../event-store/event-log.js';
import { within } from '../event-store/time-limit.js';
import type { CheckpointWatch } from '../projection-engine/checkpoint-watch.js';
import type { ProjectionEngine } from '../projection-engine/engine.js';
import type { ReactorHome } from '../reactors/reactor-home.js';

export type PartHealth = 'ok' | 'unavailable' | 'catching_up';

export interface HealthReport {
  readonly status: 'ok' | 'unavailable';
  readonly parts: {
    readonly log: PartHealth;
    readonly database: PartHealth;
    readonly projections: PartHealth;
  };
  /** What one stream owes another; null while the database cannot tell. It makes no node unhealthy. */
  readonly obligations: ObligationsHealth | null;
}

export interface ObligationsHealth {
  readonly owed: number;
  readonly oldest_owed_seconds: number | null;
  /** By this node since its start; the owner of the read models alone meets any. */
  readonly met: number;
  /** Tried in vain by this node, and to be tried again. */
  readonly failing: number;
}

const ANSWER_MS = 2_000;
const POLL_MS = 20;

/** Whether this node can do its work now: read and append, show, and keep what is shown up to date. */
export class Health {
  /** Postgres' clock when this node first looked. */
  private since: string | null = null;

  constructor(
    private readonly log: EventLog,
    private readonly database: Database,
    private readonly engine: ProjectionEngine,
    private readonly watch: CheckpointWatch,
    private readonly reactors: ReactorHome,
    private readonly setVersion: string,
  ) {}

  /** Waits until everything is usable, but no longer than this. */
  async usableWithin(milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds;
    while ((await this.report()).status !== 'ok' && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async report(): Promise<HealthReport> {
    const [log, database] = await Promise.all([this.logHealth(), this.databaseHealth()]);
    const projections = database === 'ok' ? await this.projectionHealth() : 'unavailable';
    const usable = [log, database, projections].every((part) => part === 'ok');
    const obligations = database === 'ok' ? await this.obligations() : null;
    return { status: usable ? 'ok' : 'unavailable', parts: { log, database, projections }, obligations };
  }

  private async obligations(): Promise<ObligationsHealth | null> {
    return this.reactors.report().then(
      ({ owed, oldestSeconds, met, failing }) => ({ owed, oldest_owed_seconds: oldestSeconds, met, failing }),
      () => null,
    );
  }

  private async logHealth(): Promise<PartHealth> {
    return within(ANSWER_MS, this.log.head()).then(
      () => 'ok',
      () => 'unavailable',
    );
  }

  private async databaseHealth(): Promise<PartHealth> {
    return (await this.database.refusalIfAway()) === null ? 'ok' : 'unavailable';
  }

  /**
   * A node that stands by is as healthy as the owner. It must have seen the owner renew: the lease of one that died
   * just before this node started looks valid for a while.
   */
  private async projectionHealth(): Promise<PartHealth> {
    if (this.engine.state === 'catching-up' || !this.watch.isFilled) return 'catching_up';
    if (this.engine.state === 'live') return 'ok';
    if (this.engine.state !== 'standing-by') return 'unavailable';
    const rows = await this.database
      .query<{ now: string; renewed: boolean }>(
        'set-owned',
        `SELECT clock_timestamp()::text AS now,
           EXISTS (SELECT FROM rollcall.projection_sets WHERE version = $1 AND owner IS NOT NULL
             AND renewed_at > greatest($2::timestamptz, clock_timestamp() - interval '3 seconds')) AS renewed`,
        [this.setVersion, this.since ?? 'infinity'],
      )
      .catch(() => []);
    this.since ??= rows[0]?.now ?? null;
    return rows[0]?.renewed ? 'ok' : 'unavailable';
  }
}
