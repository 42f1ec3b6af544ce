import { readFileSync } from 'node:fs';
import type { ChildSummaryRow } from '../../projections/child-session-summary/projection.js';
import type { ColumnType, ProjectedRow } from '../../projections/projection.js';
import { type AnyProjection, projectionSet } from '../../projections/projection-set.js';
import type { RollupRow } from '../../projections/session-rollups/projection.js';
import { type ReplayedEvent, readRecording } from '../../src/event-store/recording.js';
import { emptyBuffer, foldInto } from '../../src/projection-engine/batch-fold.js';
import { type RollupCounts, toChildRow } from '../../src/sessions/queries/child-row.js';

type Row = Readonly<Record<string, unknown>>;

/** A child as its parent's list shows it, without what differs from run to run, with its own children below it. */
export type RailNode = Row & { readonly children: readonly RailNode[] };

/** What a recorded log comes to, in one straight fold, without a database. */
export interface Replay {
  readonly events: readonly ReplayedEvent[];
  /** Rows by table, in the order of the event that last wrote them; 64-bit numbers as strings, times as ISO 8601. */
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  /** The children of a session, oldest first. */
  rail(sessionId: string): RailNode[];
}

/** Ids, times and positions: another run of the same commands gives others. */
const OF_ONE_RUN = new Set([
  'id',
  'parent_session_id',
  'agent_id',
  'created_at',
  'updated_at',
  'oldest_pending_at',
  'position',
]);

/** Reads a recording, decodes it through the registry and folds it through every projection of the set. */
export function replay(file: string): Replay {
  const events = readRecording(readFileSync(file, 'utf8'));
  const folded = new Map(projectionSet.map((projection) => [projection.name, fold(projection, events)]));
  const rowsOf = <R extends ProjectedRow>(name: string): readonly R[] => (folded.get(name) ?? []) as R[];
  const children = rowsOf<ChildSummaryRow>('child-session-summary');
  const rollups = rowsOf<RollupRow>('session-rollups');

  const rail = (sessionId: string): RailNode[] =>
    children
      .filter((child) => child.parent_id === sessionId && !child.deleted)
      .sort((a, b) => (a.created_position < b.created_position ? -1 : 1))
      .map((child) => railNode(toChildRow(child, countsOf(child.id, rollups)), rail(child.id)));

  const tables = Object.fromEntries(
    projectionSet.map(({ name, table }) => [
      table.name,
      rowsOf(name).map((row) => readable(row, table.columns)),
    ]),
  );
  return { events, tables, rail };
}

/** A row of the HTTP API, or of a fold, as a node of the rail. */
export function railNode(row: object, children: readonly RailNode[]): RailNode {
  const kept = Object.entries(row).filter(([field]) => !OF_ONE_RUN.has(field));
  return { ...Object.fromEntries(kept), children };
}

function fold(projection: AnyProjection, events: readonly ReplayedEvent[]): ProjectedRow[] {
  const buffer = emptyBuffer(projection);
  foldInto(buffer, projection, events);
  const keyOf = (row: ProjectedRow): string =>
    projection.table.primaryKey.map((column) => row[column]).join('\n');
  return buffer.written().sort((a, b) => {
    if (a.position !== b.position) return a.position < b.position ? -1 : 1;
    return keyOf(a) < keyOf(b) ? -1 : 1;
  });
}

function countsOf(sessionId: string, rollups: readonly RollupRow[]): RollupCounts {
  const rows = rollups.filter((row) => row.ancestor_id === sessionId);
  const sum = (counted: readonly RollupRow[]): number =>
    counted.reduce((total, { pending }) => total + pending, 0);
  return {
    pending: sum(rows),
    pending_self: sum(rows.filter((row) => row.session_id === sessionId)),
    oldest_pending_at: null,
  };
}

function readable(row: ProjectedRow, columns: Readonly<Record<string, ColumnType>>): Row {
  const values = row as unknown as Row;
  return Object.fromEntries(
    Object.entries(columns).map(([name, type]) => [name, readableValue(values[name], type)]),
  );
}

function readableValue(value: unknown, type: ColumnType): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (type === 'timestamptz' && typeof value === 'number') return new Date(value).toISOString();
  return value ?? null;
}
