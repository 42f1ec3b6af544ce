import type { Database } from '../database/database.js';
import type { EventLog } from '../event-store/event-log.js';
import { within } from '../event-store/time-limit.js';
import type { CheckpointWatch } from '../projection-engine/checkpoint-watch.js';
import type { EngineState, ProjectionEngine } from '../projection-engine/engine.js';
import { LEASE } from '../projection-engine/ownership.js';
import type { ParkedStreams } from '../projection-engine/parked-streams.js';
import { publishedFigures, type PublishedFigures } from '../projection-engine/published-figures.js';
import type { ReactorHome } from '../reactors/reactor-home.js';
import { readinessOf } from './readiness.js';

interface Projections {
  readonly health: PartHealth;
  readonly owner: PublishedFigures | null;
}

export type PartHealth = 'ok' | 'unavailable' | 'catching_up' | 'standing_still' | 'lagging';

/** How the read models are fed, as far as this node knows. */
export interface ProjectionDetail {
  readonly set: string;
  /** Whether this node feeds them, or another. */
  readonly role: 'owner' | 'standby';
  readonly state: EngineState;
  readonly parked: number;
  /** What the owner says of itself: now, or with its last renewal; null when no owner is known. */
  readonly owner: PublishedFigures | null;
}

export interface HealthReport {
  readonly status: 'ok' | 'unavailable';
  readonly parts: {
    readonly log: PartHealth;
    readonly database: PartHealth;
    readonly projections: PartHealth;
  };
  readonly projections: ProjectionDetail;
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
    private readonly parked: ParkedStreams,
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
    const { health, owner } = await this.projectionHealth();
    const projections = database === 'ok' ? health : 'unavailable';
    const usable = [log, database, projections].every((part) => part === 'ok');
    const obligations = database === 'ok' ? await this.obligations() : null;
    return {
      status: usable ? 'ok' : 'unavailable',
      parts: { log, database, projections },
      projections: {
        set: this.setVersion,
        role: this.engine.owns ? 'owner' : 'standby',
        state: this.engine.state,
        parked: this.parked.size,
        owner,
      },
      obligations,
    };
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

  private async projectionHealth(): Promise<Projections> {
    const { state, owns } = this.engine;
    if (!owns && state === 'standing-by') return this.standByHealth();
    const owner = owns ? publishedFigures(this.engine.figures.snapshot()) : null;
    if (state === 'catching-up' || !this.watch.isFilled) return { health: 'catching_up', owner };
    return { health: owner && state === 'live' ? readinessOf(owner) : 'unavailable', owner };
  }

  /**
   * A node that stands by is as healthy as the owner. It must have seen the owner renew: the lease of one that died
   * just before this node started looks valid for a while.
   */
  private async standByHealth(): Promise<Projections> {
    const rows = await this.database
      .query<{ now: string; set_back: boolean; renewed: boolean; figures: PublishedFigures | null }>(
        'set-owned',
        `SELECT clock_timestamp()::text AS now, figures,
           $2::timestamptz < 'infinity' AND $2::timestamptz > clock_timestamp() AS set_back, coalesce(owner IS NOT NULL
           AND renewed_at > greatest($2::timestamptz, clock_timestamp() - ${LEASE})
           AND renewed_at < clock_timestamp() + ${LEASE}, false) AS renewed
         FROM (SELECT $1::text AS set) AS own LEFT JOIN rollcall.projection_sets ON version = set`,
        [this.setVersion, this.since ?? 'infinity'],
      )
      .catch(() => []);
    const [row] = rows;
    if (row?.set_back) this.since = null;
    this.since ??= row?.now ?? null;
    const owner = row?.figures ?? null;
    if (!this.watch.isFilled) return { health: 'catching_up', owner };
    if (!row?.renewed) return { health: 'unavailable', owner };
    return { health: owner ? readinessOf(owner) : 'ok', owner };
  }
}
