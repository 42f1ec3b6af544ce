import type { AnyProjection } from '../../../projections/projection-set.js';
import type { EventLog } from '../../event-store/event-log.js';
import type { EventRegistry } from '../../event-store/event-registry.js';
import { knownLogIdentity } from '../../event-store/log-identity.js';
import type { Position } from '../../event-store/position.js';
import type { StreamNames } from '../../event-store/stream-names.js';
import { EventReader } from '../event-reader.js';
import { ForeignLog, NOTHING_APPLIED } from '../set-schema.js';
import { AuditImpossible } from './audit-impossible.js';
import type { Replay } from '../attribution/attribute-fields.js';
import { Comparison } from './comparison.js';
import { foldedEvents } from './folded-events.js';
import { LiveSet, type LiveState } from './live-set.js';
import { type AuditReport, type Difference, toDifference, toParking } from './report.js';
import { responsibleEvents } from './responsible-events.js';
import { sessionColumnsOf, type SessionScope } from './session-scope.js';
import { SetReader } from './set-reader.js';
import { type Fold, openFold, StartOver } from './fold.js';

/** A snapshot is closed within a minute; what is not compared by then is compared in the next one. */
const SNAPSHOT_MS = 50_000;
/** The fold is near enough to the head when it takes no longer than this to the live set's checkpoint. */
const NEAR_MS = 2_000;
const MOST_APPROACHES = 20;
/** A stream that is no longer parked, or a live set that went back, makes the fold useless. */
const MOST_STARTS = 3;

export interface AuditPorts {
  readonly url: string;
  readonly log: EventLog;
  readonly registry: EventRegistry;
  readonly names: StreamNames;
  /** All of the build's. */
  readonly projections: readonly AnyProjection[];
  readonly setVersion: string;
}

export interface AuditRequest {
  /** By name; null: all. */
  readonly projections: readonly string[] | null;
  /** Only the rows of this session and of all below it; null: all rows. */
  readonly session: string | null;
}

export interface AuditProgress {
  readonly phase: 'folding' | 'comparing' | 'tracing';
  /** Folded so far. */
  readonly events: number;
  /** Up to which it has folded; null before the first event. */
  readonly position: Position | null;
  /** Up to which it will fold, as far as is known. */
  readonly target: Position | null;
  /** Compared so far. */
  readonly rows: number;
}

export interface AuditOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: AuditProgress) => void;
  /** How long one snapshot is compared, milliseconds, and rows of a page: for tests. */
  readonly snapshotMs?: number;
  readonly pageRows?: number;
}

/** Which of the projections an audit compares; for a session only those whose rows belong to sessions. */
export function auditedProjections(
  projections: readonly AnyProjection[],
  { projections: names, session }: AuditRequest,
): AnyProjection[] {
  return projections.filter(
    ({ name }) => (names?.includes(name) ?? true) && (session === null || sessionColumnsOf(name) !== null),
  );
}

/**
 * Compares the live read models with a fold of the log, exactly at one position: folds into scratch tables beside them,
 * holds the live set still in a snapshot, folds on to its checkpoint, compares row by row, and names for each
 * difference the event that should have set it. Leaves nothing behind. Throws `AuditImpossible`, `ForeignLog`,
 * `ShadowSetInUse`, the signal's reason, or what log and database say.
 */
export async function audit(
  ports: AuditPorts,
  request: AuditRequest,
  options: AuditOptions,
): Promise<AuditReport> {
  const logId = await knownLogIdentity(ports.log, ports.registry, ports.names);
  const live = new LiveSet(ports.url, ports.setVersion, logId, options);
  const state = await live.look();
  const head = (await ports.log.head()) ?? NOTHING_APPLIED;
  if (state.position > head)
    throw new ForeignLog(`The read models stand at ${state.position}, beyond the log's head ${head}`);
  for (let start = 1; ; start += 1) {
    try {
      return await new Audit(ports, request, options, live, logId ?? '').run();
    } catch (error) {
      if (!(error instanceof StartOver)) throw error;
      if (start === MOST_STARTS) throw new AuditImpossible(`${error.message}, again and again`);
    }
  }
}

class Audit {
  private readonly projections: readonly AnyProjection[];
  private readonly reader: EventReader;
  private rows = 0;
  private phase: AuditProgress['phase'] = 'folding';
  private target: Position | null = null;

  constructor(
    private readonly ports: AuditPorts,
    private readonly request: AuditRequest,
    private readonly options: AuditOptions,
    private readonly live: LiveSet,
    private readonly logId: string,
  ) {
    this.projections = auditedProjections(ports.projections, request);
    this.reader = new EventReader(ports.registry, ports.names);
  }

  async run(): Promise<AuditReport> {
    const { ports, options, reader, logId } = this;
    const first = await this.live.look();
    const projections = this.folded();
    const { signal } = options;
    const onProgress = (): void => this.tell(fold);
    const fold = await openFold({ ...ports, reader, projections, logId, first, signal, onProgress });
    let report: AuditReport;
    try {
      await this.approach(fold);
      report = await this.compare(fold);
    } catch (error) {
      // Why it ended says more than that nothing could be tidied up, which the next audit does.
      await fold.drop().catch(() => undefined);
      throw error;
    }
    await fold.drop();
    return report;
  }

  /** The ids of a session's tree are read from the fold's own table of sessions. */
  private folded(): AnyProjection[] {
    const { session } = this.request;
    return this.ports.projections.filter(
      (projection) =>
        this.projections.includes(projection) || (session !== null && projection.name === 'sessions'),
    );
  }

  private async approach(fold: Fold): Promise<void> {
    for (let approach = 0; approach < MOST_APPROACHES; approach += 1) {
      const begun = performance.now();
      await this.foldTo(fold, await this.live.look());
      if (performance.now() - begun < NEAR_MS) return;
    }
  }

  private async foldTo(fold: Fold, state: LiveState): Promise<void> {
    this.phase = 'folding';
    this.target = state.position;
    await fold.fillTo(state);
    this.tell(fold);
  }

  private async compare(fold: Fold): Promise<AuditReport> {
    const differences: Difference[] = [];
    const comparison: { current: Comparison | null } = { current: null };
    for (;;) {
      const live = await this.live.snapshot(this.projections);
      const until = performance.now() + (this.options.snapshotMs ?? SNAPSHOT_MS);
      try {
        await this.foldTo(fold, live);
        comparison.current ??= this.comparison(fold, await this.scope(fold));
        this.phase = 'comparing';
        const expected = await SetReader.open(this.ports.url, fold.schema, this.projections, this.options);
        try {
          const mayGoOn = (): boolean => performance.now() < until;
          await comparison.current.round(live.reader, expected, mayGoOn);
        } finally {
          await expected.close();
        }
      } finally {
        await live.reader.close();
      }
      const { current } = comparison;
      differences.push(...(await this.trace(fold, current, live.position)));
      if (current.isComplete) return this.report(fold, current, live, differences);
    }
  }

  private comparison(fold: Fold, ids: readonly string[]): Comparison {
    const { session } = this.request;
    const scopeOf = ({ name }: AnyProjection): SessionScope | null => {
      const columns = sessionColumnsOf(name);
      return columns === null || session === null ? null : { ...columns, ids, top: session };
    };
    const counted = new Map<string, number>();
    const onRows = (projection: string, rows: number): void => {
      counted.set(projection, rows);
      this.rows = [...counted.values()].reduce((sum, count) => sum + count, 0);
      this.tell(fold);
    };
    return new Comparison(this.projections, { scopeOf, onRows, signal: this.options.signal });
  }

  /** The sessions of the tree, by the log. */
  private async scope(fold: Fold): Promise<string[]> {
    const { session } = this.request;
    if (session === null) return [];
    const reader = await SetReader.open(this.ports.url, fold.schema, [], this.options);
    try {
      const rows = await reader.query<{ id: string }>(
        'tree',
        `SELECT id FROM ${fold.schema}.sessions WHERE id = $1 OR ancestor_ids @> ARRAY[$1::text]`,
        [session],
      );
      if (rows.length === 0) throw new AuditImpossible(`the log knows no session ${session}`);
      return rows.map(({ id }) => id);
    } finally {
      await reader.close();
    }
  }

  private async trace(fold: Fold, comparison: Comparison, position: Position): Promise<Difference[]> {
    const found = comparison.takeDifferences();
    if (found.length === 0) return [];
    this.phase = 'tracing';
    this.tell(fold);
    const { log, names } = this.ports;
    const { signal } = this.options;
    const stretch = { log, reader: this.reader, names, leftOut: fold.leftOut, upTo: position, signal };
    const replay: Replay = (take) => foldedEvents(stretch, take);
    const responsible = await responsibleEvents(replay, this.projections, found);
    return found.map((difference, index) =>
      toDifference(difference, this.keyOf(difference.projection), responsible[index] ?? null),
    );
  }

  private keyOf(projection: string): readonly string[] {
    return this.projections.find(({ name }) => name === projection)?.table.primaryKey ?? [];
  }

  private report(
    fold: Fold,
    comparison: Comparison,
    live: LiveState,
    differences: readonly Difference[],
  ): AuditReport {
    const tables = comparison.checked;
    const isClean = differences.length === 0 && fold.parked.length === 0;
    return {
      state: isClean ? 'clean' : 'different',
      position: live.position === NOTHING_APPLIED ? null : live.position.toString(),
      rows_checked: tables.reduce((sum, { rows }) => sum + rows, 0),
      tables,
      differences,
      parked: [
        ...live.parked.map((stream) => toParking(stream, 'live')),
        ...fold.parked.map((stream) => toParking(stream, 'audit')),
      ],
      truncated: comparison.truncated,
    };
  }

  private tell(fold: Fold): void {
    const { events, position } = fold;
    this.options.onProgress({
      phase: this.phase,
      events,
      position: position === NOTHING_APPLIED ? null : position,
      target: this.target,
      rows: this.rows,
    });
  }
}
