import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Client } from 'pg';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { stack } from '../support/stack.js';
import { cutAt, foldInBatches, history, read, runs } from './histories.js';
import { written } from './written-set.js';

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
        expect(new Set(parked)).toEqual(new Set(cuts.keys()));
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
