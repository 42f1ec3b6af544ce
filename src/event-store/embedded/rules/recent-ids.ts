/** Where an event id was written last. */
export interface RecentWrite {
  readonly stream: bigint;
  readonly revision: bigint;
  readonly position: bigint;
}

interface Remembered {
  readonly id: string;
  readonly write: RecentWrite;
}

const REMEMBERED = 50_000;

/**
 * The ids of recent writes. It makes retries at `any` and `stream_exists` idempotent as far as it reaches:
 * bounded, in memory, and empty after a restart, as on a real node.
 */
export class RecentIds {
  private readonly writes = new Map<string, Remembered>();
  // The order of a Map would do, but the search for its oldest entry walks over all that were deleted before it.
  private readonly order: Remembered[] = [];
  private oldest = 0;

  constructor(private readonly capacity = REMEMBERED) {}

  remember(id: string, write: RecentWrite): void {
    const entry = { id, write };
    const forgotten = this.order[this.oldest];
    // An id that was written again since has a younger entry.
    if (forgotten !== undefined && this.writes.get(forgotten.id) === forgotten) {
      this.writes.delete(forgotten.id);
    }
    this.writes.set(id, entry);
    this.order[this.oldest] = entry;
    this.oldest = (this.oldest + 1) % this.capacity;
  }

  find(id: string, stream: bigint): RecentWrite | undefined {
    const write = this.writes.get(id)?.write;
    return write !== undefined && write.stream === stream ? write : undefined;
  }

  clear(): void {
    this.writes.clear();
    this.order.length = 0;
    this.oldest = 0;
  }
}
