import type { ProjectedRow, Projection } from '../projection.js';

/**
 * A session that was deleted by a wish of its own. Reads hide everything below it by this one row, from the moment of
 * the wish on, while the cascade still has sessions to reach.
 */
export interface SessionDeletionRow extends ProjectedRow {
  readonly id: string;
  readonly root_id: string;
  /** Something below may not have heard of it yet, so that counts must leave it out. */
  readonly running: boolean;
}

export const sessionDeletionsProjection: Projection<SessionDeletionRow> = {
  name: 'session-deletions',
  version: 1,
  table: {
    name: 'session_deletions',
    columns: { id: 'text', root_id: 'text', running: 'boolean', position: 'bigint' },
    primaryKey: ['id'],
    guards: ['position'],
    indexes: ['(root_id) WHERE running'],
    hot: [],
    insertOnly: false,
  },
  keysOf: ({ event, subjectId }) => {
    const isOwn = event.type === 'SessionDeleted' && event.data.follows === null;
    const isEnd = event.type === 'CascadeCompleted' && event.data.kind === 'delete';
    return isOwn || isEnd ? [[subjectId]] : [];
  },
  apply({ event, subjectId, metadata, position }, rows) {
    const row = rows.get([subjectId]);
    if (event.type === 'SessionDeleted' && event.data.follows === null) {
      // A session is deleted once, however often the log says so.
      if (row) return;
      const root_id = metadata.root_id ?? subjectId;
      rows.put({ id: subjectId, root_id, running: event.data.children > 0, position });
    } else if (event.type === 'CascadeCompleted' && event.data.kind === 'delete' && row?.running) {
      rows.put({ ...row, running: false, position });
    }
  },
};
