import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { ProjectedEvent } from '../../projections/projection.js';
import { cutAt, foldInBatches, history, read, runs, type Tables } from './histories.js';

jest.setTimeout(600_000);

const cuts = fc.array(fc.nat(), { maxLength: 12, size: 'max' });

/** What an event that was appended again moves without meaning anything. */
function withoutPlaces(tables: Tables): object {
  const bare = (row: object): object => ({ ...row, position: 0n, updated_at: 0, activity_position: 0n });
  return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.map(bare)]));
}

describe('the rows of any history are those of one straight fold', () => {
  it('however it is cut into batches', () => {
    fc.assert(
      fc.property(history, cuts, (appends, points) => {
        const events = appends.flat().map(read);
        expect(foldInBatches(cutAt(events, points))).toEqual(foldInBatches([events]));
      }),
      runs(300, 5_000),
    );
  });

  it('wherever it starts over, from any point before', () => {
    fc.assert(
      fc.property(history, cuts, fc.nat(), fc.nat(), (appends, points, stop, back) => {
        const events = appends.flat().map(read);
        const stopped = stop % (events.length + 1);
        const from = back % (stopped + 1);
        const lives = [events.slice(0, stopped), ...cutAt(events.slice(from), points)];
        expect(foldInBatches(lives)).toEqual(foldInBatches([events]));
      }),
      runs(300, 5_000),
    );
  });

  it('whatever is delivered again, at any time later', () => {
    fc.assert(
      fc.property(
        history,
        cuts,
        fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 10, size: 'max' }),
        (appends, points, again) => {
          const events = appends.flat().map(read);
          expect(foldInBatches(cutAt(withRepeats(events, again), points))).toEqual(foldInBatches([events]));
        },
      ),
      runs(300, 5_000),
    );
  });

  it('whichever streams come later than the others, as parked ones do', () => {
    fc.assert(
      fc.property(
        history,
        cuts,
        fc.array(fc.nat(), { minLength: 1, maxLength: 4, size: 'max' }),
        (appends, points, picks) => {
          const events = appends.flat().map(read);
          expect(foldInBatches(cutAt(withLateStreams(events, picks), points))).toEqual(
            foldInBatches([events]),
          );
        },
      ),
      runs(300, 5_000),
    );
  });

  it('when an append lies in the log twice, under the same event ids', () => {
    fc.assert(
      fc.property(
        history,
        cuts,
        fc.array(fc.boolean(), { minLength: 5, maxLength: 40 }),
        (appends, points, twice) => {
          const doubled = appends.flatMap((append, index) => {
            const events = append.map(read);
            return twice[index % twice.length] ? [...events, ...appendedAgain(events)] : events;
          });
          expect(withoutPlaces(foldInBatches(cutAt(doubled, points)))).toEqual(
            withoutPlaces(foldInBatches([appends.flat().map(read)])),
          );
        },
      ),
      runs(300, 5_000),
    );
  });
});

/** Right after the last of them: positions leave room for six before the next append. */
function appendedAgain(events: readonly ProjectedEvent[]): ProjectedEvent[] {
  const last = events.at(-1)?.position ?? 0n;
  return events.slice(0, 6).map((event, index) => ({ ...event, position: last + BigInt(index + 1) }));
}

/** Each number picks the event from which on its stream comes after all others, the last one picked last. */
function withLateStreams(events: readonly ProjectedEvent[], picks: readonly number[]): ProjectedEvent[] {
  return picks.reduce<readonly ProjectedEvent[]>((delivered, pick) => {
    const first = events[pick % events.length];
    const isLate = ({ stream, position }: ProjectedEvent): boolean =>
      first !== undefined && stream === first.stream && position >= first.position;
    return [...delivered.filter((event) => !isLate(event)), ...delivered.filter(isLate)];
  }, events) as ProjectedEvent[];
}

/** Each pair says which event comes again and how much later. */
function withRepeats(
  events: readonly ProjectedEvent[],
  again: readonly [number, number][],
): ProjectedEvent[] {
  const delivered = [...events];
  for (const [pick, later] of again) {
    const event = events[pick % events.length];
    if (!event) continue;
    const first = delivered.indexOf(event);
    delivered.splice(first + 1 + (later % (delivered.length - first)), 0, event);
  }
  return delivered;
}
