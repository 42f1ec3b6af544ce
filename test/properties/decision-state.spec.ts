import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { SessionRow } from '../../projections/sessions/row.js';
import { rowOf } from '../../projections/sessions/row.js';
import { sessionAggregate } from '../../src/sessions/aggregate.js';
import { sessionSnapshots } from '../../src/sessions/session-snapshots.js';
import type { SessionStreamEvent } from '../../src/sessions/domain/facts.js';
import { noSession, type SessionState } from '../../src/sessions/domain/state.js';
import { foldInBatches, history, read, runs } from './histories.js';
import type { Append } from './world.js';

jest.setTimeout(600_000);

const SKEW_MS = 12_345;

/** Streams with their appends. */
function streamsOf(appends: readonly Append[]): Append[][] {
  const streams = new Map<string, Append[]>();
  for (const append of appends) {
    const stream = append[0]?.stream ?? '';
    streams.set(stream, [...(streams.get(stream) ?? []), append]);
  }
  return [...streams.values()];
}

/** As the log gives it back. */
function fromLog(state: SessionState, appends: readonly Append[]): SessionState {
  return appends.flat().reduce((folded, raw) => {
    const event = read(raw);
    return sessionAggregate.evolve(folded, event.event as SessionStreamEvent, event);
  }, state);
}

/** As the node that wrote it keeps it: with the last position of the append and a clock of its own. */
function fromDecisions(appends: readonly Append[]): SessionState {
  return appends.reduce<SessionState>((state, append) => {
    const last = append.at(-1);
    const place = { position: last?.position ?? 0n, recordedAt: (last?.recordedAt ?? 0) + SKEW_MS };
    return append.reduce(
      (folded, raw) => sessionAggregate.evolve(folded, read(raw).event as SessionStreamEvent, place),
      state,
    );
  }, noSession);
}

/** Everything that a decision may look at. Times and the place of the last activity are for showing only. */
function decisive({ facts, prompts, children, cascades }: SessionState): object {
  return {
    facts: facts && { ...facts, createdAt: 0, updatedAt: 0, activityPosition: 0n },
    open: [...prompts.open],
    settled: prompts.settled.toObject(),
    byName: children.byName.toObject(),
    byChild: children.byChild.toObject(),
    released: [...children.released].sort(),
    cascades: { ...cascades, followed: cascades.followed.toObject() },
  };
}

it('what a node remembers of a stream, and reads after it, is what the whole stream says', () => {
  fc.assert(
    fc.property(history, fc.nat(), (appends, split) => {
      for (const stream of streamsOf(appends)) {
        const at = split % (stream.length + 1);
        const whole = fromLog(noSession, stream);
        expect(decisive(fromLog(fromDecisions(stream.slice(0, at)), stream.slice(at)))).toEqual(
          decisive(whole),
        );
      }
    }),
    runs(300, 5_000),
  );
});

it('what a node stores of a stream, and reads back, is the same', () => {
  fc.assert(
    fc.property(history, (appends) => {
      for (const stream of streamsOf(appends)) {
        const state = fromLog(noSession, stream);
        const stored = JSON.parse(JSON.stringify(sessionSnapshots.toJson(state))) as unknown;
        expect(decisive(sessionSnapshots.fromJson(stored))).toEqual(decisive(state));
      }
    }),
    runs(200, 2_000),
  );
});

it('what is decided on is what is shown: the facts of a stream are its row', () => {
  fc.assert(
    fc.property(history, (appends) => {
      const shown = (foldInBatches([appends.flat().map(read)])['sessions'] ?? []) as readonly SessionRow[];
      const facts = streamsOf(appends).flatMap((stream) => fromLog(noSession, stream).facts ?? []);
      const rows = facts
        .map(rowOf)
        .sort((a, b) => (JSON.stringify([a.id]) < JSON.stringify([b.id]) ? -1 : 1));
      expect(shown).toEqual(rows);
    }),
    runs(200, 2_000),
  );
});
