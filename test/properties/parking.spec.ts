import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Client } from 'pg';
import { createEventRegistry, eventCatalogue } from '../../src/event-store/catalogue.js';
import { EventRegistry } from '../../src/event-store/event-registry.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { decideSpawnRoot } from '../../src/sessions/domain/decide/spawn.js';
import { stack } from '../support/stack.js';
import { bareRoot, cutAt, foldInBatches, history, read, runs } from './histories.js';
import { World } from './world.js';
import { lived, written } from './written-set.js';

jest.setTimeout(600_000);

const client = new Client({ connectionString: stack().databaseUrl });

beforeAll(() => client.connect());
afterAll(() => client.end());

/** Between any two events of a history. */
const SPACING = 10n;

type Poison = 'unknown type' | 'too long for an index';

const planted = fc.array(
  fc.tuple(fc.nat(), fc.constantFrom<Poison>('unknown type', 'too long for an index')),
  {
    minLength: 1,
    maxLength: 4,
  },
);

it('events that cannot be applied park their stream from there on and cost nobody else anything', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      planted,
      fc.array(fc.nat(), { maxLength: 3 }),
      async (appends, poisons, points) => {
        const healthy = appends.flat().map((raw) => ({ ...raw, position: raw.position * SPACING }));
        fc.pre(healthy.length > 0);
        const plants = poisons.map(([index, poison], order) =>
          after(healthy[index % healthy.length], poison, order),
        );
        const all = [...healthy, ...plants].sort((a, b) => (a.position < b.position ? -1 : 1));
        const cuts = new Map<string, bigint>();
        for (const { stream, position } of plants.toReversed()) {
          const standing = cuts.get(stream);
          if (standing === undefined || position < standing) cuts.set(stream, position);
        }
        const applied = healthy.filter(
          ({ stream, position }) => position < (cuts.get(stream) ?? position + 1n),
        );

        const { tables, parked } = await written(client, [cutAt(all, points)]);

        expect(tables).toEqual(foldInBatches([applied.map(read)]));
        expect(parked).toEqual(cuts);
      },
    ),
    runs(12, 200),
  );
});

it('of two bad events of a stream in one batch the first is where it is parked', async () => {
  const world = new World();
  world.run('s', (state) => decideSpawnRoot(state, { ...bareRoot, sessionId: 's' }));
  const [born] = world.appends.flat();
  const log = [born, after(born, 'too long for an index', 0), after(born, 'unknown type', 1)];
  const { parked } = await written(client, [[log.flatMap((raw) => raw ?? [])]]);
  expect(parked).toEqual(new Map([['rollcall.session-s', (born?.position ?? 0n) + 1n]]));
});

/** Types that an older build may not know; every history holds some of them. */
const sometimesUnknown = fc.subarray(
  [
    'SessionSpawned',
    'SessionRenamed',
    'ChildRenamed',
    'ChildReleased',
    'ItemAppended',
    'SessionStatusChanged',
  ],
  { minLength: 1, maxLength: 3 },
);

it('what one build parked and the next one retries, under load, comes to the rows of one straight fold', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      sometimesUnknown,
      fc.nat(),
      fc.array(fc.nat(), { maxLength: 3 }),
      async (appends, unknown, takeover, points) => {
        const log = appends.flat();
        const known = eventCatalogue.filter(({ type }) => !unknown.includes(type));
        const older = new EventRegistry(known, new Set());
        const split = takeover % (log.length + 1);
        const { tables, parked } = await lived(client, [
          { batches: cutAt(log.slice(0, split), points), registry: older, log: [] },
          // It takes over, retries one batch of what it knows, and loses the set again to one that knows everything.
          { batches: [[]], registry: older, log },
          { batches: cutAt(log.slice(split), points), registry: createEventRegistry(), log },
        ]);
        expect(parked).toEqual(new Map());
        expect(tables).toEqual(foldInBatches([log.map(read)]));
      },
    ),
    runs(12, 200),
  );
});

/** An event right behind another one on its stream, and behind what `order` others planted there. */
function after(raw: RawEvent | undefined, poison: Poison, order: number): RawEvent {
  if (!raw) throw new Error('no event to stand behind');
  const place = { ...raw, id: randomBytes(8).toString('hex'), position: raw.position + 1n + BigInt(order) };
  if (poison === 'unknown type') return { ...place, type: 'SessionForgotten', data: {} };
  const data = {
    // Random, since what repeats is compressed and fits.
    item_id: randomBytes(6_000).toString('base64'),
    response_id: 'resp',
    item_type: 'message',
    payload: { role: 'user', content: [] },
    created_by: null,
  };
  return { ...place, type: 'ItemAppended', data };
}
