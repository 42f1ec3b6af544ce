import type { RowKey } from '../../../projections/projection.js';
import { compareKeys } from './key-order.js';

/** A row by its key and a digest of everything in it. */
export interface DigestedRow {
  readonly key: RowKey;
  readonly digest: string;
}

/** Gives rows in the order of their keys, page by page; an empty page is the end. */
export type PageSource = () => Promise<readonly DigestedRow[]>;

export interface MergeOptions {
  /** Is given the keys whose rows are not alike or stand on one side alone, in order, none twice. */
  readonly differing: (keys: readonly RowKey[]) => Promise<void>;
  /** Asked between pages, never before the first ones. */
  readonly mayGoOn: () => boolean;
  /** Told how many more keys were looked at. */
  readonly onRows: (rows: number) => void;
}

export interface Merged {
  /** Distinct keys looked at. */
  readonly rows: number;
  /** The last key looked at; null when there was none. */
  readonly reached: RowKey | null;
  readonly complete: boolean;
}

/** A table gave its rows in another order than asked, or one key twice: an index of it is damaged. */
export class UnorderedRows extends Error {
  constructor(side: string, key: RowKey) {
    super(
      `${side} gives the key ${JSON.stringify(key)} twice or out of order; an index of it may be damaged`,
    );
    this.name = 'UnorderedRows';
  }
}

/** Goes through two ordered tables side by side. Throws `UnorderedRows`, and what the sources throw. */
export async function mergePages(
  live: PageSource,
  expected: PageSource,
  { differing, mayGoOn, onRows }: MergeOptions,
): Promise<Merged> {
  const [left, right] = [new Side(live, 'the read model'), new Side(expected, 'the fold')];
  let rows = 0;
  let reached: RowKey | null = null;
  for (;;) {
    await Promise.all([left.fill(), right.fill()]);
    const found: RowKey[] = [];
    const before = rows;
    while (left.isReady && right.isReady && !(left.isOver && right.isOver)) {
      const order = orderOf(left.row, right.row);
      const key = (order <= 0 ? left.row : right.row)?.key ?? [];
      if (order !== 0 || left.row?.digest !== right.row?.digest) found.push(key);
      if (order <= 0) left.step();
      if (order >= 0) right.step();
      rows += 1;
      reached = key;
    }
    onRows(rows - before);
    if (found.length > 0) await differing(found);
    if (left.isOver && right.isOver) return { rows, reached, complete: true };
    if (!mayGoOn()) return { rows, reached, complete: false };
  }
}

/** A side that is over lies behind every key. */
function orderOf(left: DigestedRow | undefined, right: DigestedRow | undefined): number {
  if (!left || !right) return left ? -1 : 1;
  return compareKeys(left.key, right.key);
}

class Side {
  private page: readonly DigestedRow[] = [];
  private index = 0;
  private ended = false;
  private last: RowKey | null = null;

  constructor(
    private readonly source: PageSource,
    private readonly name: string,
  ) {}

  get isOver(): boolean {
    return this.ended;
  }

  /** Whether the next row, or that there is none, is known. */
  get isReady(): boolean {
    return this.ended || this.index < this.page.length;
  }

  get row(): DigestedRow | undefined {
    return this.page[this.index];
  }

  async fill(): Promise<void> {
    if (this.isReady) return;
    this.page = await this.source();
    this.index = 0;
    this.ended = this.page.length === 0;
    this.check();
  }

  step(): void {
    this.last = this.row?.key ?? this.last;
    this.index += 1;
    this.check();
  }

  private check(): void {
    const next = this.row?.key;
    if (next && this.last && compareKeys(this.last, next) >= 0) throw new UnorderedRows(this.name, next);
  }
}
