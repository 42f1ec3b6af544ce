import type { Database } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import type { CheckpointWatch } from '../projection-engine/checkpoint-watch.js';

const POLL_MS = 1_000;

/**
 * The sessions whose deletion still has something below to reach, as a node knows them: commands below are refused
 * like commands on a session that does not exist. A node knows its own at once, those of others by the next look; a
 * command that comes in between is deleted with its session all the same.
 */
export class DeletedSubtrees {
  private running: ReadonlySet<string> = new Set();
  /** Until the read models speak for them: the position of the deletion. */
  private readonly own = new Map<string, Position>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: Database,
    private readonly schema: string,
    private readonly watch: CheckpointWatch,
  ) {}

  add(sessionId: string, position: Position): void {
    this.own.set(sessionId, position);
  }

  /** Whether one of these sessions is being deleted with all below it. */
  coverOneOf(sessionIds: readonly string[]): boolean {
    if (this.running.size + this.own.size === 0) return false;
    return sessionIds.some((id) => this.running.has(id) || this.own.has(id));
  }

  async start(): Promise<void> {
    await this.poll();
    this.timer = setInterval(() => void this.poll(), POLL_MS);
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** Postgres away: what was known stays. */
  private async poll(): Promise<void> {
    const { position } = this.watch;
    const rows = await this.database
      .query<{ id: string }>(
        'deletions-running',
        `SELECT id FROM ${this.schema}.session_deletions WHERE running`,
      )
      .catch(() => null);
    if (!rows) return;
    this.running = new Set(rows.map(({ id }) => id));
    for (const [id, at] of this.own) if (at <= position) this.own.delete(id);
  }
}
