import type { ProjectedEvent, ProjectedRow, Projection, RowKey } from '../projection.js';

export type ObligationKind = 'birth' | 'rename' | 'release';

/** What a fact on one stream still owes to another: the to-do list of the reactors (design 4). */
export interface ObligationRow extends ProjectedRow {
  readonly kind: ObligationKind;
  readonly child_id: string;
  readonly parent_id: string;
  /** The event that owes; ids of what the reactor appends follow from it. */
  readonly cause_id: string;
  readonly correlation_id: string;
  /** `birth`: the spawn data of the child. `rename`: `{title, sequence}`. `release`: `{}`. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** A row that was met stays, so that its cause, should the log give it again, is not owed again. */
  readonly met: boolean;
}

export const obligationsProjection: Projection<ObligationRow> = {
  name: 'obligations',
  version: 1,
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
      position: 'bigint',
    },
    primaryKey: ['kind', 'child_id'],
    indexes: ['(position) WHERE NOT met'],
    hot: [],
    insertOnly: false,
  },
  keysOf: (event) => {
    const owed = owedBy(event);
    const met = metBy(event);
    return [...(owed ? [[owed.kind, owed.child_id]] : []), ...(met ? [met] : [])];
  },
  apply(event, rows) {
    const owed = owedBy(event);
    if (owed && isNews(owed, rows.get([owed.kind, owed.child_id]))) rows.put(owed);
    const met = metBy(event);
    const row = met && rows.get(met);
    if (row && !row.met && meets(event, row))
      rows.put({ ...row, payload: kept(row), met: true, position: event.position });
  },
};

/** A child is born once and released once; of its renames the parent's count tells which is newer. */
function isNews(owed: ObligationRow, standing: ObligationRow | undefined): boolean {
  return !standing || (owed.kind === 'rename' && sequenceOf(owed) > sequenceOf(standing));
}

function meets({ event }: ProjectedEvent, row: ObligationRow): boolean {
  return event.type !== 'SessionRenamed' || (event.data.sequence ?? 0) >= sequenceOf(row);
}

function sequenceOf({ payload }: ObligationRow): number {
  return typeof payload['sequence'] === 'number' ? payload['sequence'] : 0;
}

/** What a met obligation is still compared by. */
function kept(row: ObligationRow): ObligationRow['payload'] {
  return row.kind === 'rename' ? { sequence: sequenceOf(row) } : {};
}

function owedBy(event: ProjectedEvent): ObligationRow | null {
  const { event: fact, subjectId, metadata, id, position } = event;
  const origin = { cause_id: id, correlation_id: metadata.$correlationId, met: false, position };
  switch (fact.type) {
    case 'ChildSpawned':
      return {
        kind: 'birth',
        child_id: fact.data.child_id,
        parent_id: subjectId,
        payload: fact.data.spawn,
        ...origin,
      };
    case 'ChildRenamed': {
      const payload = { title: fact.data.title, sequence: fact.data.sequence };
      return { kind: 'rename', child_id: fact.data.child_id, parent_id: subjectId, payload, ...origin };
    }
    case 'SessionClosed': {
      const parent = metadata.ancestor_ids?.at(-1);
      return parent
        ? { kind: 'release', child_id: subjectId, parent_id: parent, payload: {}, ...origin }
        : null;
    }
    default:
      return null;
  }
}

function metBy({ event, subjectId }: ProjectedEvent): RowKey | null {
  switch (event.type) {
    case 'SessionSpawned':
      return event.data.parent_session_id === null ? null : ['birth', subjectId];
    case 'SessionRenamed':
      return ['rename', subjectId];
    case 'ChildReleased':
      return ['release', event.data.child_id];
    default:
      return null;
  }
}
