import { projectionSet } from '../../projections/projection-set.js';
import { Database } from '../database/database.js';
import { createEventRegistry } from '../event-store/catalogue.js';
import { EventLog } from '../event-store/event-log.js';
import { StreamNames } from '../event-store/stream-names.js';
import { audit, type AuditProgress } from '../projection-engine/audit/audit.js';
import type { AuditReport } from '../projection-engine/audit/report.js';
import { SET_VERSION } from '../projection-engine/this-set.js';
import { AuditRegister, type AuditOrder, type StoredProgress } from './audit-register.js';

const RENEW_MS = 1_000;

export interface AuditPlace {
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  readonly streamPrefix: string;
}

export interface AuditRunOptions {
  /** Its reason says why: an `AuditStopped`. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: AuditProgress) => void;
}

/** An audit was told to end. */
export class AuditStopped extends Error {
  constructor(
    readonly state: 'cancelled' | 'failed',
    reason: string,
  ) {
    super(reason);
    this.name = 'AuditStopped';
  }
}

/**
 * Carries out an audit that the register has begun, renews its lease, and writes down how it ended. Throws what ended it
 * otherwise, after that is written down.
 */
export async function runAudit(
  order: AuditOrder,
  place: AuditPlace,
  { signal, onProgress }: AuditRunOptions,
): Promise<AuditReport> {
  const database = new Database(place.databaseUrl, 2);
  const log = new EventLog(place.eventStoreUrl);
  const register = new AuditRegister(database);
  const lost = new AbortController();
  let progress: StoredProgress | null = null;
  const renew = async (): Promise<void> => {
    // Postgres away: the audit itself finds out.
    const runs = await register.renew(order.id, progress).catch(() => true);
    if (!runs) lost.abort(new AuditStopped('cancelled', 'it was cancelled'));
  };
  const renewals = setInterval(() => void renew(), RENEW_MS);
  try {
    const report = await audit(
      {
        url: place.databaseUrl,
        log,
        registry: createEventRegistry(),
        names: new StreamNames(place.streamPrefix),
        projections: projectionSet,
        setVersion: SET_VERSION,
      },
      order,
      {
        signal: AbortSignal.any([signal, lost.signal]),
        onProgress: (made) => {
          progress = toStored(made);
          onProgress(made);
        },
      },
    );
    const kept = await register.end(order.id, { state: report.state, report });
    if (!kept) throw new AuditStopped('cancelled', 'it was cancelled');
    return report;
  } catch (error) {
    const cause: unknown = signal.aborted ? signal.reason : lost.signal.aborted ? lost.signal.reason : error;
    const state = cause instanceof AuditStopped ? cause.state : 'failed';
    await register.end(order.id, { state, error: messageOf(cause) }).catch(() => false);
    throw cause;
  } finally {
    clearInterval(renewals);
    await log.close();
    await database.close();
  }
}

function toStored({ phase, events, position, target, rows }: AuditProgress): StoredProgress {
  return { phase, events, position: position?.toString() ?? null, target: target?.toString() ?? null, rows };
}

/** A refused connection is an AggregateError without a text of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
