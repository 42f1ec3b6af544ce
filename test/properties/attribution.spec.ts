import { expect, it, jest } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { ProjectedEvent, ProjectedRow, RowKey } from '../../projections/projection.js';
import { type AnyProjection, projectionSet } from '../../projections/projection-set.js';
import { attributeFields, type Replay } from '../../src/projection-engine/attribution/attribute-fields.js';
import type { RowPast, WantedRow } from '../../src/projection-engine/attribution/field-attribution.js';
import { MemoryTables } from '../support/specifications/memory-tables.js';
import { history, read, runs } from './histories.js';

jest.setTimeout(600_000);

/** A row's past in ids of events. */
interface Past {
  fields: Record<string, string>;
  writtenBy: string | null;
  removedBy: string | null;
}

const nameOf = (projection: string, key: RowKey): string => JSON.stringify([projection, key]);

function keyOf({ table }: AnyProjection, row: ProjectedRow): RowKey {
  const values = row as unknown as Readonly<Record<string, unknown>>;
  return table.primaryKey.map((column) => String(values[column]));
}

/** The past of every row that there ever was: all tables after every event, each compared with those before. */
function bruteForce(events: readonly ProjectedEvent[]): Map<string, Past> {
  const tables = new MemoryTables(projectionSet);
  const pasts = new Map<string, Past>();
  let before = new Map<string, ProjectedRow>();
  for (const event of events) {
    tables.apply([event]);
    const after = new Map<string, ProjectedRow>();
    for (const projection of projectionSet)
      for (const row of tables.rowsOf(projection))
        after.set(nameOf(projection.name, keyOf(projection, row)), row);
    for (const name of new Set([...before.keys(), ...after.keys()]))
      compare(pasts, name, event.id, before.get(name), after.get(name));
    before = after;
  }
  return pasts;
}

function compare(
  pasts: Map<string, Past>,
  name: string,
  event: string,
  before: ProjectedRow | undefined,
  after: ProjectedRow | undefined,
): void {
  if (isDeepStrictEqual(before, after)) return;
  const past = pasts.get(name) ?? { fields: {}, writtenBy: null, removedBy: null };
  pasts.set(name, past);
  if (!after) {
    Object.assign(past, { fields: {}, removedBy: event });
    return;
  }
  Object.assign(past, { writtenBy: event, removedBy: null });
  for (const [column, value] of Object.entries(after)) {
    const standing = before && (before as unknown as Record<string, unknown>)[column];
    if (!before || !isDeepStrictEqual(standing, value)) past.fields[column] = event;
  }
}

function inIds({ fields, writtenBy, removedBy }: RowPast): Past {
  return {
    fields: Object.fromEntries([...fields].map(([column, { id }]) => [column, id])),
    writtenBy: writtenBy?.id ?? null,
    removedBy: removedBy?.id ?? null,
  };
}

/** Each event under an id of its own, so that events can be told apart, and some of them twice in the log. */
function logOf(raws: ReturnType<typeof read>[], twice: readonly boolean[]): ProjectedEvent[] {
  return raws.flatMap((event, index) =>
    twice[index % twice.length]
      ? [event, { ...event, id: `${event.id} again`, position: event.position + 1n }]
      : [event],
  );
}

function inOrder(events: readonly ProjectedEvent[]): Replay {
  return (take) => Promise.resolve(events.forEach(take));
}

it('the last event that changed each field of any rows is what a comparison after every event gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
      async (appends, twice, picks) => {
        const events = logOf(appends.flat().map(read), twice);
        const pasts = bruteForce(events);
        const names = [...pasts.keys()].sort();
        const asked = new Set(picks.map((pick) => names[pick % names.length] ?? ''));
        const wanted = [...asked].map((name): WantedRow => {
          const [projection, key] = JSON.parse(name) as [string, RowKey];
          return { projection, key };
        });
        const attribution = await attributeFields(inOrder(events), projectionSet, wanted);
        for (const { projection, key } of wanted) {
          const past = attribution.pastOf(projection, key);
          expect([projection, key, past && inIds(past)]).toEqual([
            projection,
            key,
            pasts.get(nameOf(projection, key)),
          ]);
        }
      },
    ),
    runs(300, 4_000),
  );
});

it('a row that was never there has no past, and the event at a position is told if it touches the key', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.nat(), async (appends, pick) => {
      const events = appends.flat().map(read);
      const event = events[pick % events.length];
      if (!event) throw new Error('a history has events');
      const touched = projectionSet.flatMap((projection) =>
        projection.keysOf(event).map((key) => ({ projection: projection.name, key, at: event.position })),
      );
      const never = { projection: 'sessions', key: ['nobody'], at: event.position };
      const attribution = await attributeFields(inOrder(events), projectionSet, [...touched, never]);
      for (const { projection, key } of touched)
        expect(attribution.pastOf(projection, key)?.at?.id).toBe(event.id);
      expect(attribution.pastOf('sessions', ['nobody'])).toMatchObject({
        fields: new Map(),
        writtenBy: null,
        removedBy: null,
        at: null,
      });
      expect(attribution.pastOf('sessions', ['not asked for'])).toBeNull();
    }),
    runs(100, 1_000),
  );
});
