import type { AnyProjection } from '../../../projections/projection-set.js';
import type { RowKey } from '../../../projections/projection.js';
import { keyName } from '../row-buffer.js';
import { mergePages } from './merge.js';
import { type CheckedTable, MOST_DIFFERENCES } from './report.js';
import { type RowDifference, rowDifferences } from './row-differences.js';
import type { RowRange, SetReader } from './set-reader.js';

/** Whole rows that are held at once: one may be megabytes. */
const ROWS_AT_ONCE = 20;

interface Table {
  readonly projection: AnyProjection;
  readonly scope: RowRange['scope'];
  rows: number;
  after: RowKey | null;
  isDone: boolean;
}

export interface ComparisonOptions {
  /** Which rows of a projection are compared. */
  readonly scopeOf: (projection: AnyProjection) => RowRange['scope'];
  readonly onRows: (projection: string, rows: number) => void;
  readonly signal: AbortSignal;
}

/** Compares two sets table by table, over as many snapshots as it takes: each goes on from the key reached. */
export class Comparison {
  private readonly tables: readonly Table[];
  private found: RowDifference[] = [];
  private listed = 0;
  private hasMore = false;

  constructor(
    projections: readonly AnyProjection[],
    private readonly options: ComparisonOptions,
  ) {
    this.tables = projections.map((projection) => {
      return { projection, scope: options.scopeOf(projection), rows: 0, after: null, isDone: false };
    });
  }

  get isComplete(): boolean {
    return this.tables.every(({ isDone }) => isDone);
  }

  get checked(): CheckedTable[] {
    return this.tables.map(({ projection, rows }) => ({ projection: projection.name, rows }));
  }

  /** What was found since the last call; all of it stood so in the snapshot of the last round. */
  takeDifferences(): RowDifference[] {
    const { found } = this;
    this.found = [];
    return found;
  }

  get truncated(): boolean {
    return this.hasMore;
  }

  /** Compares what is left for as long as it may. Both readers stand at the same position. */
  async round(live: SetReader, expected: SetReader, mayGoOn: () => boolean): Promise<void> {
    const { signal, onRows } = this.options;
    for (const table of this.tables) {
      if (table.isDone) continue;
      const { projection, scope, after } = table;
      const range = { after, scope };
      let seen = table.rows;
      const { rows, reached, complete } = await mergePages(
        live.digests(projection, range),
        expected.digests(projection, range),
        {
          differing: (keys) => this.lookAt(projection, keys, live, expected),
          mayGoOn: () => {
            signal.throwIfAborted();
            return mayGoOn();
          },
          onRows: (count) => onRows(projection.name, (seen += count)),
        },
      );
      table.rows += rows;
      table.after = reached ?? after;
      table.isDone = complete;
      if (!complete || !mayGoOn()) return;
    }
  }

  private async lookAt(
    projection: AnyProjection,
    keys: readonly RowKey[],
    live: SetReader,
    expected: SetReader,
  ): Promise<void> {
    for (let from = 0; from < keys.length && !this.hasMore; from += ROWS_AT_ONCE) {
      this.options.signal.throwIfAborted();
      const some = keys.slice(from, from + ROWS_AT_ONCE);
      const [ours, theirs] = await Promise.all([
        live.rows(projection, some),
        expected.rows(projection, some),
      ]);
      for (const key of some) {
        const name = keyName(key);
        for (const difference of rowDifferences(projection, key, ours.get(name), theirs.get(name)))
          this.add(difference);
      }
    }
  }

  private add(difference: RowDifference): void {
    this.listed += 1;
    if (this.listed <= MOST_DIFFERENCES) this.found.push(difference);
    else this.hasMore = true;
  }
}
