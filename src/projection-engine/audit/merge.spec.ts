import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareKeys } from './key-order.js';
import { type DigestedRow, mergePages, type PageSource, UnorderedRows } from './merge.js';

/** Texts that UTF-16 and UTF-8 order differently among them. */
const part = fc.constantFrom('', 'a', 'aa', 'b', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '🟡');
const table = fc
  .uniqueArray(fc.tuple(fc.tuple(part, part), fc.constantFrom('x', 'y')), {
    selector: ([key]) => JSON.stringify(key),
    maxLength: 60,
    size: 'max',
  })
  .map((rows) => rows.map(([key, digest]) => ({ key, digest })).sort((a, b) => compareKeys(a.key, b.key)));

/** Pages of these sizes, again and again. */
function pages(rows: readonly DigestedRow[], sizes: readonly number[]): PageSource {
  let from = 0;
  let page = 0;
  return () => {
    const size = sizes[page % sizes.length] ?? 1;
    page += 1;
    const taken = rows.slice(from, from + size);
    from += taken.length;
    return Promise.resolve(taken);
  };
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

function differing(live: readonly DigestedRow[], expected: readonly DigestedRow[]): string[] {
  const [left, right] = [live, expected].map(
    (rows) => new Map(rows.map(({ key, digest }) => [JSON.stringify(key), digest])),
  );
  const all = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
  return [...all].filter((key) => left?.get(key) !== right?.get(key)).sort();
}

describe('two ordered tables side by side', () => {
  it('give exactly the keys that differ, however they are paged and however often it starts anew', async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        table,
        sizes,
        sizes,
        fc.boolean(),
        async (live, expected, ours, theirs, stops) => {
          const found: string[] = [];
          let [counted, told, after]: [number, number, readonly string[] | null] = [0, 0, null];
          for (let complete = false; !complete;) {
            const rest = (rows: readonly DigestedRow[]): DigestedRow[] =>
              rows.filter(({ key }) => after === null || compareKeys(key, after) > 0);
            const merged = await mergePages(pages(rest(live), ours), pages(rest(expected), theirs), {
              differing: (keys) =>
                Promise.resolve(void found.push(...keys.map((key) => JSON.stringify(key)))),
              mayGoOn: () => !stops,
              onRows: (rows) => (told += rows),
            });
            counted += merged.rows;
            after = merged.reached ?? after;
            complete = merged.complete;
          }
          expect([...found].sort()).toEqual(differing(live, expected));
          expect(counted).toBe(new Set([...live, ...expected].map(({ key }) => JSON.stringify(key))).size);
          expect(told).toBe(counted);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('stop only where something was looked at', async () => {
    const rows = ['a', 'b', 'c'].map((key) => ({ key: [key], digest: 'x' }));
    const never = { differing: () => Promise.resolve(), mayGoOn: () => false, onRows: () => undefined };
    expect(await mergePages(pages(rows, [1]), pages(rows, [1]), never)).toEqual({
      rows: 1,
      reached: ['a'],
      complete: false,
    });
  });

  it.each([[['a', 'a']], [['b', 'a']]])('are refused when a table gives %j', async (keys) => {
    const rows = keys.map((key) => ({ key: [key], digest: 'x' }));
    const options = { differing: () => Promise.resolve(), mayGoOn: () => true, onRows: () => undefined };
    for (const size of [1, 2]) {
      const broken = pages(rows, [size]);
      await expect(mergePages(broken, pages([], [1]), options)).rejects.toThrow(UnorderedRows);
    }
  });
});

describe('the order of keys', () => {
  it('is that of the bytes of UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        const bytes = Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other)));
        expect(Math.sign(compareKeys([one], [other]))).toBe(bytes);
      }),
    );
    expect(compareKeys(['\uffff'], ['\u{10000}'])).toBeLessThan(0);
  });

  it('looks at the next part where the first is the same', () => {
    expect(compareKeys(['a', 'b'], ['a', 'c'])).toBeLessThan(0);
    expect(compareKeys(['a', 'b'], ['a', 'b'])).toBe(0);
    expect(compareKeys(['b', 'a'], ['a', 'c'])).toBeGreaterThan(0);
  });
});
