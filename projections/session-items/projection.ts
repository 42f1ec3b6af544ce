import type { ProjectedRow, Projection } from '../projection.js';

/** One item of a transcript, in log order. */
export interface SessionItemRow extends ProjectedRow {
  readonly session_id: string;
  readonly item_id: string;
  readonly response_id: string;
  readonly type: string;
  /** As `contract/sessions.md` 5.2 stores it; key order kept. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly created_by: string | null;
  readonly created_at: number;
}

export const sessionItemsProjection: Projection<SessionItemRow> = {
  name: 'session-items',
  version: 1,
  table: {
    name: 'session_items',
    columns: {
      session_id: 'text',
      item_id: 'text',
      response_id: 'text',
      type: 'text',
      payload: 'json',
      created_by: 'text',
      created_at: 'timestamptz',
      position: 'bigint',
    },
    primaryKey: ['session_id', 'item_id'],
    guards: ['position'],
    indexes: ['(session_id, position)'],
    hot: [],
    insertOnly: true,
  },
  keysOf: ({ event, subjectId }) => (event.type === 'ItemAppended' ? [[subjectId, event.data.item_id]] : []),
  apply({ event, subjectId, recordedAt, position }, rows) {
    if (event.type !== 'ItemAppended') return;
    rows.put({
      session_id: subjectId,
      item_id: event.data.item_id,
      response_id: event.data.response_id,
      type: event.data.item_type,
      payload: event.data.payload,
      created_by: event.data.created_by,
      created_at: recordedAt,
      position,
    });
  },
};
