import type { ProjectedEvent, ProjectedRow, Projection } from '../projection.js';

export type ObligationKind = 'birth' | 'rename' | 'release';

/**
 * What a fact on one stream still owes to another: the to-do list of the reactors (design 4). Made of two streams, of
 * which either may come first: a stream that was parked comes later than the others.
 */
export interface ObligationRow extends ProjectedRow {
  readonly kind: ObligationKind;
  readonly child_id: string;
  readonly parent_id: string;
  /** The event that owes; ids of what the reactor appends follow from it. Null until it has come. */
  readonly cause_id: string | null;
  readonly correlation_id: string | null;
  /** `birth`: the spawn data of the child. `rename`: `{title, sequence}`. `release`: `{}`. Once met, the sequence alone. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** A row that was met stays, so that its cause, should the log give it again, is not owed again. */
  readonly met: boolean;
  /** The newest of several renames that has been met. */
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
}

export const obligationsProjection: Projection<ObligationRow> = {
  name: 'obligations',
  version: 2,
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
    [owedBy(event), metBy(event)].flatMap((half) => (half ? [[half.kind, half.child_id]] : [])),
  apply(event, rows) {
    const owed = owedBy(event);
    if (owed) {
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
  'kind' | 'child_id' | 'parent_id' | 'cause_id' | 'correlation_id' | 'payload'
> & {
  readonly owed_position: bigint;
};
type MetHalf = Pick<ObligationRow, 'kind' | 'child_id' | 'parent_id' | 'met_sequence'> & {
  readonly met_position: bigint;
};
type Halves = Omit<ObligationRow, 'met' | 'position'>;

const unmet = { met_sequence: null, met_position: null };
const unowed = { cause_id: null, correlation_id: null, payload: {}, owed_position: null };

/** A child is born once and released once; of its renames the parent's count tells which is newer. */
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

function owedBy(event: ProjectedEvent): OwedHalf | null {
  const { event: fact, subjectId, metadata, id, position } = event;
  const origin = { cause_id: id, correlation_id: metadata.$correlationId, owed_position: position };
  switch (fact.type) {
    case 'ChildSpawned': {
      const { child_id, spawn } = fact.data;
      return { kind: 'birth', child_id, parent_id: subjectId, payload: spawn, ...origin };
    }
    case 'ChildRenamed': {
      const { child_id, title, sequence } = fact.data;
      return { kind: 'rename', child_id, parent_id: subjectId, payload: { title, sequence }, ...origin };
    }
    case 'SessionClosed': {
      const parent = metadata.ancestor_ids?.at(-1);
      if (!parent) return null;
      return { kind: 'release', child_id: subjectId, parent_id: parent, payload: {}, ...origin };
    }
    default:
      return null;
  }
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
    default:
      return null;
  }
}
