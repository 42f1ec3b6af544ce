import { describe, expect, it } from '@jest/globals';
import type { ProjectedEvent, ProjectedRow, RowKey, Rows } from '../../../projections/projection.js';
import type { AnyProjection } from '../../../projections/projection-set.js';
import { attributeFields, type Replay } from './attribute-fields.js';

type Sum = ProjectedRow & { readonly id: string; readonly sum: number };

/** An event names rows; the first of them becomes the sum of all, and one more. A name in brackets goes. */
const projection = {
  name: 'sums',
  table: {
    name: 'sums',
    columns: { id: 'text', sum: 'integer', position: 'bigint' },
    primaryKey: ['id'],
    guards: ['position'],
    indexes: [],
    hot: [],
    insertOnly: false,
  },
  keysOf: ({ id }: ProjectedEvent): RowKey[] => namesIn(id).map((name) => [name]),
  apply({ id, position }: ProjectedEvent, rows: Rows<Sum>): void {
    const [first = '', ...others] = namesIn(id);
    if (id.startsWith('(')) return rows.remove([first]);
    const sum = others.reduce((total, name) => total + (rows.get([name])?.sum ?? 0), 1);
    rows.put({ id: first, sum, position });
  },
} as unknown as AnyProjection;

const namesIn = (id: string): string[] => id.replaceAll(/[()]/g, '').split('+');

const log = (...ids: string[]): ProjectedEvent[] =>
  ids.map((id, index) => ({ id, position: BigInt(index * 10) }) as ProjectedEvent);

async function pastOf(events: readonly ProjectedEvent[], key: string): Promise<unknown> {
  let walks = 0;
  const replay: Replay = (take) => {
    walks += 1;
    return Promise.resolve(events.forEach(take));
  };
  const past = (await attributeFields(replay, [projection], [{ projection: 'sums', key: [key] }])).pastOf(
    'sums',
    [key],
  );
  const fields = Object.fromEntries(
    [...(past?.fields ?? [])].map(([field, { position }]) => [field, position]),
  );
  return { fields, removedBy: past?.removedBy?.position ?? null, walks };
}

describe('which event last set a field', () => {
  it('is not one that leaves it as it is', async () => {
    expect(await pastOf(log('a', 'b', 'a'), 'a')).toEqual({
      fields: { id: 0n, sum: 0n, position: 20n },
      removedBy: null,
      walks: 1,
    });
  });

  it('depends on rows that only the projector looks at, which are then folded from the beginning', async () => {
    // The sum of `a` changes at 30 only because `b` became 2 at 20, before anything named `a` beside it.
    expect(await pastOf(log('c', 'a', 'b+c', 'a+b'), 'a')).toEqual({
      fields: { id: 10n, sum: 30n, position: 30n },
      removedBy: null,
      walks: 3,
    });
    expect(await pastOf(log('a', 'a+b'), 'a')).toMatchObject({ fields: { sum: 0n, position: 10n } });
  });

  it('is forgotten with the row, which remembers what took it away', async () => {
    expect(await pastOf(log('a', '(a)'), 'a')).toEqual({ fields: {}, removedBy: 10n, walks: 1 });
    expect(await pastOf(log('(a)'), 'a')).toEqual({ fields: {}, removedBy: null, walks: 1 });
    expect(await pastOf(log('a', '(a)', 'a'), 'a')).toEqual({
      fields: { id: 20n, sum: 20n, position: 20n },
      removedBy: null,
      walks: 1,
    });
  });
});
