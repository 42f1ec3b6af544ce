import { DELETE_SEQUENCE } from '../../src/sessions/domain/cascades.js';
import type { CascadeKind } from '../../src/sessions/domain/events.js';
import type { ProjectedEvent, ProjectedRow, Projection } from '../projection.js';

export type ObligationKind = 'birth' | 'rename' | 'release' | CascadeKind;

/**
 * What a fact on one stream still owes to another: the to-do list of the reactors (design 4). Made of two streams, of
 * which either may come first: a stream that was parked comes later than the others.
 */
export interface ObligationRow extends ProjectedRow {
  readonly kind: ObligationKind;
  /** The child that is born, renamed or released; of a cascade the session at its top. */
  readonly child_id: string;
  /** Null for a cascade from a root. */
  readonly parent_id: string | null;
  /** The event that owes; ids of what the reactor appends follow from it. Null until it has come. */
  readonly cause_id: string | null;
  readonly correlation_id: string | null;
  /**
   * `birth`: the spawn data of the child. `rename`: `{title, sequence}`. `release`: `{}`. `interrupt`: `{sequence,
   * requested}`. `delete`: `{sequence}`. Once met, the sequence alone.
   */
  readonly payload: Readonly<Record<string, unknown>>;
  /** A row that was met stays, so that its cause, should the log give it again, is not owed again. */
  readonly met: boolean;
  /** When it came to be owed, by the log's clock. */
  readonly owed_at: number | null;
  /** The newest of several renames or interrupts that has been met. */
  readonly met_sequence: number | null;
  /** Of the event that owes. */
  readonly owed_position: bigint | null;
  /** Of the event that met it, or an older one of its kind. */
  readonly met_position: bigint | null;
}

/** What is not met has come. */
export interface OwedRow extends ObligationRow {
  readonly cause_id: string;
  readonly correlation_id: string;
  readonly owed_at: number;
}

export const obligationsProjection: Projection<ObligationRow> = {
  name: 'obligations',
  version: 3,
  table: {
    name: 'obligations',
    columns: {
      kind: 'text',
      child_id: 'text',
      parent_id: 'text',
      cause_id: 'text',
      correlation_id: 'text',
      payload: 'json',
      met: 'boolean',
      owed_at: 'timestamptz',
      met_sequence: 'integer',
      owed_position: 'bigint',
      met_position: 'bigint',
      position: 'bigint',
    },
    primaryKey: ['kind', 'child_id'],
    guards: ['owed_position', 'met_position'],
    indexes: ['(position) WHERE NOT met'],
    hot: [],
    insertOnly: false,
  },
  keysOf: (event) =>
    [...owedBy(event), metBy(event)].flatMap((half) => (half ? [[half.kind, half.child_id]] : [])),
  apply(event, rows) {
    for (const owed of owedBy(event)) {
      const standing = rows.get([owed.kind, owed.child_id]);
      if (isOwedAnew(owed, standing)) rows.put(settled({ ...(standing ?? unmet), ...owed }));
    }
    const met = metBy(event);
    if (met) {
      const standing = rows.get([met.kind, met.child_id]);
      if (isMetAnew(met, standing)) rows.put(settled({ ...(standing ?? unowed), ...met }));
    }
  },
};

type OwedHalf = Pick<
  OwedRow,
  'kind' | 'child_id' | 'parent_id' | 'cause_id' | 'correlation_id' | 'payload' | 'owed_at'
> & {
  readonly owed_position: bigint;
};
type MetHalf = Pick<ObligationRow, 'kind' | 'child_id' | 'parent_id' | 'met_sequence'> & {
  readonly met_position: bigint;
};
type Halves = Omit<ObligationRow, 'met' | 'position'>;

const unmet = { met_sequence: null, met_position: null };
const unowed = { cause_id: null, correlation_id: null, payload: {}, owed_at: null, owed_position: null };

/** Born, released and deleted is once for ever; of renames and interrupts a count tells which is newer. */
function isOwedAnew(owed: OwedHalf, standing: ObligationRow | undefined): boolean {
  if (!standing || standing.owed_position === null) return true;
  return sequenceOf(owed.payload) > sequenceOf(standing.payload);
}

function isMetAnew(met: MetHalf, standing: ObligationRow | undefined): boolean {
  if (!standing || standing.met_position === null) return true;
  return (met.met_sequence ?? 0) > (standing.met_sequence ?? 0);
}

/** The whole row of both halves, whichever came last. */
function settled(halves: Halves): ObligationRow {
  const { payload, owed_position: owedAt, met_position: metAt, met_sequence: sequence } = halves;
  const met = metAt !== null && (owedAt === null || (sequence ?? 0) >= sequenceOf(payload));
  const [owed, last] = [owedAt ?? -1n, metAt ?? -1n];
  return { ...halves, met, payload: met ? kept(payload) : payload, position: owed > last ? owed : last };
}

function sequenceOf(payload: ObligationRow['payload']): number {
  return typeof payload['sequence'] === 'number' ? payload['sequence'] : 0;
}

/** What a met obligation is still compared by. */
function kept({ sequence }: ObligationRow['payload']): ObligationRow['payload'] {
  return sequence === undefined ? {} : { sequence };
}

function owedBy(event: ProjectedEvent): readonly OwedHalf[] {
  const { event: fact, subjectId, metadata } = event;
  const parent = metadata.ancestor_ids?.at(-1) ?? null;
  const release = parent === null ? [] : [half(event, 'release', subjectId, parent, {})];
  switch (fact.type) {
    case 'ChildSpawned':
      return [half(event, 'birth', fact.data.child_id, subjectId, fact.data.spawn)];
    case 'ChildRenamed': {
      const { child_id, title, sequence } = fact.data;
      return [half(event, 'rename', child_id, subjectId, { title, sequence })];
    }
    case 'SessionClosed':
      return release;
    case 'SessionInterrupted': {
      const { sequence, requested, follows, children } = fact.data;
      if (follows !== null || children === 0) return [];
      return [half(event, 'interrupt', subjectId, parent, { sequence, requested })];
    }
    case 'SessionDeleted': {
      // What is deleted because of another session needs no free name: no child is spawned beside it any more.
      if (fact.data.follows !== null) return [];
      const cascade = half(event, 'delete', subjectId, parent, { sequence: DELETE_SEQUENCE });
      return fact.data.children === 0 ? release : [...release, cascade];
    }
    default:
      return [];
  }
}

function half(
  { id, metadata, recordedAt, position }: ProjectedEvent,
  kind: ObligationKind,
  childId: string,
  parentId: string | null,
  payload: ObligationRow['payload'],
): OwedHalf {
  return {
    kind,
    child_id: childId,
    parent_id: parentId,
    cause_id: id,
    correlation_id: metadata.$correlationId,
    payload,
    owed_at: recordedAt,
    owed_position: position,
  };
}

function metBy({ event, subjectId, metadata, position }: ProjectedEvent): MetHalf | null {
  const parent = metadata.ancestor_ids?.at(-1);
  const origin = { met_sequence: null, met_position: position };
  switch (event.type) {
    case 'SessionSpawned':
      return parent ? { kind: 'birth', child_id: subjectId, parent_id: parent, ...origin } : null;
    case 'SessionRenamed': {
      const { sequence } = event.data;
      if (!parent || sequence === undefined) return null;
      return { kind: 'rename', child_id: subjectId, parent_id: parent, ...origin, met_sequence: sequence };
    }
    case 'ChildReleased':
      return { kind: 'release', child_id: event.data.child_id, parent_id: subjectId, ...origin };
    case 'CascadeCompleted': {
      const { kind, sequence } = event.data;
      return { kind, child_id: subjectId, parent_id: parent ?? null, ...origin, met_sequence: sequence };
    }
    default:
      return null;
  }
}
