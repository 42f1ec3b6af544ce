import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { EventStoreDBClient } from '@eventstore/db-client';
import fc from 'fast-check';
import { Client } from 'pg';
import type { RollcallEvent } from '../../src/event-store/catalogue.js';
import { createEventRegistry } from '../../src/event-store/catalogue.js';
import { EventLog } from '../../src/event-store/event-log.js';
import type { RawEvent, RecordedEvent } from '../../src/event-store/recorded-event.js';
import { stack } from '../support/stack.js';
import { LoggedHistory } from './filled-set.js';
import { foldInBatches, history, runs } from './histories.js';

jest.setTimeout(600_000);

const client = new Client({ connectionString: stack().databaseUrl });
const raw = EventStoreDBClient.connectionString(stack().eventStoreUrl);
const log = new EventLog(stack().eventStoreUrl);
const registry = createEventRegistry();

beforeAll(() => client.connect());
afterAll(() => Promise.all([client.end(), raw.dispose(), log.close()]));

/** From everything at once to hardly anything in memory. */
const limits = fc.record({
  batchEvents: fc.constantFrom(1, 7, 256),
  appendBytes: fc.constantFrom(1, 2_000, 1_000_000),
  writeEvents: fc.constantFrom(1, 9, 1_000_000),
  keptWeight: fc.constantFrom(0, 3_000, 1_000_000_000),
});

type Poison = 'unknown type' | 'too long for an index';

it('a filler makes the rows of one straight fold, however little it keeps in memory and wherever it is cut short', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      limits,
      fc.array(fc.nat({ max: 60 }), { maxLength: 2 }),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom<Poison>('unknown type', 'too long for an index')), {
        maxLength: 3,
      }),
      async (appends, limit, cuts, poisons) => {
        const planted = plant(appends, poisons);
        const logged = await LoggedHistory.write(raw, log, planted);
        const parkedFrom = new Map<string, bigint>();
        for (const { stream, type, data, position } of logged.events) {
          if (isPoison(type, data) && !parkedFrom.has(stream)) parkedFrom.set(stream, position);
        }
        const applied = logged.events.filter(
          ({ stream, position }) => position < (parkedFrom.get(stream) ?? position + 1n),
        );

        const { tables, parked } = await logged.filled(client, limit, cuts);

        const projected = applied.map((event) => ({
          ...(registry.decode(event) as RecordedEvent<RollcallEvent>),
          subjectId: logged.names.subjectOf(event.stream),
        }));
        expect(tables).toEqual(foldInBatches([projected]));
        expect(parked).toEqual(parkedFrom);
      },
    ),
    runs(12, 300),
  );
});

/** After the append of the given index one more on the same stream, which cannot be applied. */
function plant(
  appends: readonly (readonly RawEvent[])[],
  poisons: readonly (readonly [number, Poison])[],
): (readonly RawEvent[])[] {
  const planted = [...appends];
  for (const [index, poison] of poisons) {
    const place = index % planted.length;
    const before = planted[place]?.[0];
    if (before) planted.splice(place + 1, 0, [poisonLike(before, poison)]);
  }
  return planted;
}

function poisonLike(event: RawEvent, poison: Poison): RawEvent {
  if (poison === 'unknown type') return { ...event, type: 'SessionForgotten', data: {} };
  const data = {
    // Random, since what repeats is compressed and fits.
    item_id: randomBytes(6_000).toString('base64'),
    response_id: 'resp',
    item_type: 'message',
    payload: { role: 'user', content: [] },
    created_by: null,
  };
  return { ...event, type: 'ItemAppended', data };
}

function isPoison(type: string, data: unknown): boolean {
  if (type === 'SessionForgotten') return true;
  return type === 'ItemAppended' && (data as { item_id: string }).item_id.length > 1_000;
}
