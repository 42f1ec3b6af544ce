import type { Database } from '../database/database.js';
import type { AuditReport } from '../projection-engine/audit/report.js';

/**
 * An audit that has not been renewed for so long has lost the process that ran it. Long, since that process comes after
 * the server where processors are scarce, from its very start.
 */
const LEASE = "interval '30 seconds'";
const KEPT = 100;

export type AuditState = 'running' | 'clean' | 'different' | 'failed' | 'cancelled';

export interface AuditOrder {
  readonly id: string;
  readonly requestedBy: string;
  /** Of a request with an Idempotency-Key. */
  readonly bodyHash: string | null;
  readonly projections: readonly string[];
  readonly session: string | null;
}

/** How far an audit has come; positions as decimal strings. */
export interface StoredProgress {
  readonly phase: string;
  readonly events: number;
  readonly position: string | null;
  readonly target: string | null;
  readonly rows: number;
}

export interface StoredAudit extends AuditOrder {
  readonly state: AuditState;
  readonly progress: StoredProgress | null;
  readonly report: AuditReport | null;
  readonly error: string | null;
  /** Epoch seconds. */
  readonly requestedAt: number;
  readonly finishedAt: number | null;
}

export type Ending =
  | { readonly state: 'clean' | 'different'; readonly report: AuditReport }
  | { readonly state: 'failed' | 'cancelled'; readonly error: string };

/** All audits of a database, whichever process runs them: at most one at a time. */
export class AuditRegister {
  constructor(private readonly database: Database) {}

  /** False when another one runs, or this id is taken. */
  async begin({ id, requestedBy, bodyHash, projections, session }: AuditOrder): Promise<boolean> {
    await this.expire();
    const rows = await this.database.query(
      'audit-begin',
      `INSERT INTO rollcall.audits (id, state, requested_by, body_hash, projections, session_id)
       VALUES ($1, 'running', $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING id`,
      [id, requestedBy, bodyHash, projections, session],
    );
    if (rows.length > 0) await this.forgetOld();
    return rows.length > 0;
  }

  async find(id: string): Promise<StoredAudit | null> {
    await this.expire();
    const [row] = await this.database.query<StoredAudit>(
      'audit-find',
      `SELECT id, state, requested_by AS "requestedBy", body_hash AS "bodyHash", projections,
         session_id AS session, progress, report, error,
         floor(extract(epoch FROM requested_at))::double precision AS "requestedAt",
         floor(extract(epoch FROM finished_at))::double precision AS "finishedAt"
       FROM rollcall.audits WHERE id = $1`,
      [id],
    );
    return row ?? null;
  }

  /** The id of the one that runs. */
  async running(): Promise<string | null> {
    const [row] = await this.database.query<{ id: string }>(
      'audit-running',
      "SELECT id FROM rollcall.audits WHERE state = 'running'",
    );
    return row?.id ?? null;
  }

  /** False when it runs no more: cancelled, or given up as lost. */
  async renew(id: string, progress: StoredProgress | null): Promise<boolean> {
    const rows = await this.database.query(
      'audit-renew',
      `UPDATE rollcall.audits SET renewed_at = clock_timestamp(), progress = coalesce($2, progress)
       WHERE id = $1 AND state = 'running' RETURNING id`,
      [id, progress && JSON.stringify(progress)],
    );
    return rows.length > 0;
  }

  /** An audit ends once: false when it had ended before. */
  async end(id: string, ending: Ending): Promise<boolean> {
    const { report, error } = { report: null, error: null, ...ending };
    const rows = await this.database.query(
      'audit-end',
      `UPDATE rollcall.audits SET state = $2, report = $3, error = $4, progress = NULL, finished_at = clock_timestamp()
       WHERE id = $1 AND state = 'running' RETURNING id`,
      [id, ending.state, report && JSON.stringify(report), error],
    );
    return rows.length > 0;
  }

  private async expire(): Promise<void> {
    await this.database.query(
      'audit-expire',
      `UPDATE rollcall.audits SET state = 'failed', error = 'the process that ran it is gone', progress = NULL,
         finished_at = clock_timestamp()
       WHERE state = 'running' AND renewed_at < clock_timestamp() - ${LEASE}`,
    );
  }

  private async forgetOld(): Promise<void> {
    await this.database.query(
      'audit-forget',
      `DELETE FROM rollcall.audits WHERE state <> 'running' AND requested_at <
         (SELECT requested_at FROM rollcall.audits ORDER BY requested_at DESC OFFSET ${KEPT - 1} LIMIT 1)`,
    );
  }
}
