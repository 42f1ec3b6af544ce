/** Where an event id was written last. */
export interface RecentWrite {
  readonly stream: bigint;
  readonly revision: bigint;
  readonly position: bigint;
}

const REMEMBERED = 50_000;

/**
 * The ids of recent writes. It makes retries at `any` and `stream_exists` idempotent as far as it reaches:
 * bounded, in memory, and empty after a restart, as on a real node.
 */
export class RecentIds {
  private readonly writes = new Map<string, RecentWrite>();

  constructor(private readonly capacity = REMEMBERED) {}

  remember(id: string, write: RecentWrite): void {
    this.writes.delete(id);
    this.writes.set(id, write);
    if (this.writes.size <= this.capacity) return;
    const oldest = this.writes.keys().next();
    if (oldest.done !== true) this.writes.delete(oldest.value);
  }

  find(id: string, stream: bigint): RecentWrite | undefined {
    const write = this.writes.get(id);
    return write !== undefined && write.stream === stream ? write : undefined;
  }

  clear(): void {
    this.writes.clear();
  }
}
