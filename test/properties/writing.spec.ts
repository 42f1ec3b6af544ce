import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Client } from 'pg';
import { stack } from '../support/stack.js';
import { cutAt, foldInBatches, history, read, runs } from './histories.js';
import { written } from './written-set.js';

jest.setTimeout(600_000);

const client = new Client({ connectionString: stack().databaseUrl });

beforeAll(() => client.connect());
afterAll(() => client.end());

it('F125: an older event that a later life of the engine applies again changes no row in Postgres', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), async (appends, picks) => {
      const log = appends.flat();
      const again = picks.flatMap((pick) => log[pick % log.length] ?? []);
      const lives = [[log], ...again.map((raw) => [[raw]])];
      expect((await written(client, lives)).tables).toEqual(foldInBatches([log.map(read)]));
    }),
    runs(5, 100),
  );
});

it('the engine writes the rows of one straight fold, however it is cut and wherever it starts over', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(fc.nat(), { maxLength: 6, size: 'max' }),
      fc.nat(),
      fc.nat(),
      async (appends, points, stop, back) => {
        const raws = appends.flat();
        const stopped = stop % (raws.length + 1);
        const lives = [
          cutAt(raws.slice(0, stopped), points),
          cutAt(raws.slice(back % (stopped + 1)), points),
        ];
        expect(await written(client, lives)).toEqual({
          tables: foldInBatches([raws.map(read)]),
          parked: new Map(),
        });
      },
    ),
    runs(12, 200),
  );
});
