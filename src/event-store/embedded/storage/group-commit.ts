interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_IN_A_COMMIT = 1_000;

/**
 * Lets everything that arrives while a commit runs share the next one. A commit blocks this thread, so
 * its successor waits for the loop to have read every socket once (`setImmediate` follows the poll phase).
 */
export class GroupCommit<Item, Result> {
  private pending: Pending<Item, Result>[] = [];
  private scheduled = false;

  constructor(
    /** Makes all items durable at once, answering one result each in order, or throws for all of them. */
    private readonly commit: (items: readonly Item[]) => readonly Result[],
    private readonly committed: () => void,
  ) {}

  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      this.schedule();
    });
  }

  /** Commits what is waiting without waiting for the loop: for shutdown. */
  flush(): void {
    while (this.pending.length > 0) this.commitOnce();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.pending.length > 0) this.commitOnce();
      if (this.pending.length > 0) this.schedule();
    });
  }

  private commitOnce(): void {
    const group = this.pending.slice(0, MOST_IN_A_COMMIT);
    this.pending = this.pending.slice(MOST_IN_A_COMMIT);
    let results: readonly Result[];
    try {
      results = this.commit(group.map((entry) => entry.item));
    } catch (error) {
      for (const entry of group) entry.reject(error);
      return;
    }
    group.forEach((entry, index) => {
      const result = results[index];
      if (result === undefined) entry.reject(new Error('a write got no result'));
      else entry.resolve(result);
    });
    this.committed();
  }
}
