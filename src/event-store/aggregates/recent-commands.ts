import type { Position } from '../position.js';
import type { CommandKey, CommandRecord, RecordedEvent } from '../recorded-event.js';

interface RecentCommand {
  readonly hash: string;
  readonly record: CommandRecord;
  readonly position: Position;
}

const KEPT = 256;

/**
 * The keyed commands of one stream that the `command-keys` read model may not hold yet. Everything after `coveredFrom`
 * is here; a look-up there that is at least as new as `coveredFrom` completes the picture.
 */
export class RecentCommands {
  private readonly byKey = new Map<string, RecentCommand>();

  constructor(private floor: Position) {}

  get coveredFrom(): Position {
    return this.floor;
  }

  find({ key }: CommandKey): RecentCommand | undefined {
    return this.byKey.get(key);
  }

  add(record: CommandRecord, position: Position): void {
    for (const { key, hash } of record.keys) {
      // The first holder of a key stands, like the first row in the read model.
      if (!this.byKey.has(key)) this.byKey.set(key, { hash, record, position });
    }
  }

  addFrom(event: RecordedEvent): void {
    if (event.metadata.command) this.add(event.metadata.command, event.position);
  }

  /** Forgets what the read model has by now. */
  prune(checkpoint: Position): void {
    if (this.byKey.size <= KEPT) return;
    for (const [key, command] of this.byKey) {
      if (command.position > checkpoint) continue;
      this.byKey.delete(key);
      if (command.position > this.floor) this.floor = command.position;
    }
  }
}
