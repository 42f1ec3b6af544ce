import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { CheckedTable, Difference, ReportedParking } from '../../projection-engine/audit/report.js';
import { AuditRegister, type AuditState, type StoredAudit, type StoredProgress } from '../audit-register.js';

/** `api.md` 6. Additions: `object`, `projections`, `session`, `tables`, `progress`, `error`, `requested_at`, `finished_at`. */
export interface AuditBody {
  readonly id: string;
  readonly object: 'audit';
  readonly state: AuditState;
  readonly projections: readonly string[];
  readonly session: string | null;
  readonly position: string | null;
  readonly rows_checked: number;
  readonly tables: readonly CheckedTable[];
  readonly differences: readonly Difference[];
  readonly parked: readonly ReportedParking[];
  readonly truncated: boolean;
  /** While it runs. */
  readonly progress: StoredProgress | null;
  /** Why it failed or was cancelled. */
  readonly error: string | null;
  /** Epoch seconds. */
  readonly requested_at: number;
  readonly finished_at: number | null;
}

export class GetAudit extends Query<AuditBody | null> {
  constructor(readonly id: string) {
    super();
  }
}

@QueryHandler(GetAudit)
export class GetAuditHandler implements IQueryHandler<GetAudit> {
  constructor(private readonly register: AuditRegister) {}

  async execute({ id }: GetAudit): Promise<AuditBody | null> {
    const found = await this.register.find(id);
    return found && toBody(found);
  }
}

function toBody(audit: StoredAudit): AuditBody {
  const { id, state, projections, session, report, progress, error } = audit;
  return {
    id,
    object: 'audit',
    state,
    projections,
    session,
    position: report?.position ?? null,
    rows_checked: report?.rows_checked ?? progress?.rows ?? 0,
    tables: report?.tables ?? [],
    differences: report?.differences ?? [],
    parked: report?.parked ?? [],
    truncated: report?.truncated ?? false,
    progress,
    error,
    requested_at: audit.requestedAt,
    finished_at: audit.finishedAt,
  };
}
