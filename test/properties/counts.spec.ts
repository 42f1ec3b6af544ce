import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { ElicitationRow } from '../../projections/pending-elicitations/projection.js';
import type { RollupRow } from '../../projections/session-rollups/projection.js';
import type { SessionRow } from '../../projections/sessions/row.js';
import { isBusy } from '../../src/sessions/domain/status.js';
import { foldInBatches, history, read, runs, type Tables } from './histories.js';

jest.setTimeout(600_000);

interface Counts {
  readonly pending: number;
  readonly busy: number;
  readonly oldest: number | null;
}

it('counts of a subtree are the lengths of its lists, at every moment of any history', () => {
  fc.assert(
    fc.property(history, fc.nat(), (appends, moment) => {
      const events = appends.flat().map(read);
      const tables = foldInBatches([events.slice(0, (moment % events.length) + 1)]);
      const sessions = rowsOf<SessionRow>(tables, 'sessions');
      for (const { id } of sessions)
        expect([id, counted(tables, id)]).toEqual([id, listed(tables, sessions, id)]);
    }),
    runs(400, 5_000),
  );
});

it('no contribution is negative, and none is kept for an ancestor without anything to count', () => {
  fc.assert(
    fc.property(history, (appends) => {
      for (const row of rowsOf<RollupRow>(foldInBatches([appends.flat().map(read)]), 'session-rollups')) {
        expect(row.pending).toBeGreaterThanOrEqual(0);
        expect([0, 1]).toContain(row.busy);
        expect(row.ancestor_id === row.session_id || row.pending + row.busy > 0).toBe(true);
      }
    }),
    runs(200, 2_000),
  );
});

function counted(tables: Tables, id: string): Counts {
  const rows = rowsOf<RollupRow>(tables, 'session-rollups').filter((row) => row.ancestor_id === id);
  const times = rows.map((row) => row.oldest_pending_at).filter((time) => time !== null);
  return {
    pending: rows.reduce((sum, row) => sum + row.pending, 0),
    busy: rows.reduce((sum, row) => sum + row.busy, 0),
    oldest: times.length === 0 ? null : Math.min(...times),
  };
}

function listed(tables: Tables, sessions: readonly SessionRow[], id: string): Counts {
  const open = rowsOf<ElicitationRow>(tables, 'pending-elicitations').filter(
    (row) => row.state === 'open' && (row.session_id === id || row.ancestor_ids.includes(id)),
  );
  const below = sessions.filter((row) => row.id === id || row.ancestor_ids.includes(id));
  return {
    pending: open.length,
    busy: below.filter(({ status }) => isBusy(status)).length,
    oldest: open.length === 0 ? null : Math.min(...open.map((row) => row.requested_at)),
  };
}

function rowsOf<Row>(tables: Tables, name: string): readonly Row[] {
  return (tables[name] ?? []) as readonly Row[];
}
