import { foldFacts, leavesOnlyTimes } from '../../src/sessions/domain/facts.js';
import { asSessionEvent } from '../session-events.js';
import type { Projection } from '../projection.js';
import { changedRow, factsOf, rowOf, sessionColumns, touchedRow, type SessionRow } from './row.js';

export const sessionsProjection: Projection<SessionRow> = {
  name: 'sessions',
  version: 3,
  table: {
    name: 'sessions',
    columns: sessionColumns,
    primaryKey: ['id'],
    guards: ['position'],
    indexes: [
      '(created_position DESC) WHERE parent_id IS NULL AND NOT deleted',
      '(activity_position DESC) WHERE parent_id IS NULL AND NOT deleted',
      '(owner, created_position DESC) WHERE parent_id IS NULL AND NOT deleted',
      '(root_id)',
    ],
    hot: ['updated_at', 'activity_position', 'position'],
    insertOnly: false,
  },
  keysOf: (event) => (asSessionEvent(event.event) ? [[event.subjectId]] : []),
  apply(event, rows) {
    const change = asSessionEvent(event.event);
    if (!change) return;
    const row = rows.get([event.subjectId]);
    if (row && leavesOnlyTimes(change)) return rows.put(touchedRow(row, change, event));
    const facts = foldFacts(row ? factsOf(row) : null, change, event);
    if (facts) rows.put(row ? changedRow(row, facts) : rowOf(facts));
  },
};
