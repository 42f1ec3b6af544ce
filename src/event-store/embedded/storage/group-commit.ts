interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** How one item of a group ended. */
export type Settled<Result> =
  { readonly kind: 'done'; readonly result: Result } | { readonly kind: 'failed'; readonly error: unknown };

const MOST_IN_A_COMMIT = 1_000;
/** Of large items fewer: a commit is as long as the wait of those that come behind it. */
const MOST_BYTES_IN_A_COMMIT = 8 * 1024 * 1024;

/** Work that lets others have a turn wherever it yields. */
export type InSteps<Result> = Generator<void, Result>;

/**
 * Lets everything that arrives while a commit runs share the next one. A step blocks this thread, so the next one
 * waits for the loop to have read every socket once (`setImmediate` follows the poll phase).
 */
export class GroupCommit<Item, Result> {
  private pending: Pending<Item, Result>[] = [];
  private scheduled = false;
  private running:
    | { readonly steps: InSteps<readonly Settled<Result>[]>; readonly group: Pending<Item, Result>[] }
    | undefined;

  constructor(
    /** Makes all items durable that it can, answering for each in order, or throws for all of them. */
    private readonly commit: (items: readonly Item[]) => InSteps<readonly Settled<Result>[]>,
    private readonly committed: () => void,
    private readonly bytesOf: (item: Item) => number,
  ) {}

  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      this.schedule();
    });
  }

  /** Commits what is waiting without waiting for the loop: for shutdown. */
  flush(): void {
    while (this.running !== undefined || this.pending.length > 0) this.step();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.step();
      if (this.running !== undefined || this.pending.length > 0) this.schedule();
    });
  }

  /** One step of the commit that runs, or the first of the next. */
  private step(): void {
    const { steps, group } = (this.running ??= this.next());
    if (group.length === 0) {
      this.running = undefined;
      return;
    }
    let result: IteratorResult<void, readonly Settled<Result>[]>;
    try {
      result = steps.next();
    } catch (error) {
      this.running = undefined;
      for (const entry of group) entry.reject(error);
      return;
    }
    if (result.done !== true) return;
    this.running = undefined;
    this.settle(group, result.value);
  }

  private next(): NonNullable<typeof this.running> {
    const count = this.countFitting();
    const group = this.pending.slice(0, count);
    this.pending = this.pending.slice(count);
    return { group, steps: this.commit(group.map((entry) => entry.item)) };
  }

  private countFitting(): number {
    let count = 0;
    let bytes = 0;
    for (const { item } of this.pending) {
      bytes += this.bytesOf(item);
      if (count === MOST_IN_A_COMMIT || (count > 0 && bytes > MOST_BYTES_IN_A_COMMIT)) break;
      count += 1;
    }
    return count;
  }

  private settle(group: readonly Pending<Item, Result>[], results: readonly Settled<Result>[]): void {
    group.forEach((entry, index) => {
      const settled = results[index];
      if (settled?.kind === 'done') entry.resolve(settled.result);
      else entry.reject(settled?.error ?? new Error('a write got no result'));
    });
    this.committed();
  }
}
