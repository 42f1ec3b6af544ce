import type { Database } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import type { EventLog } from '../event-store/event-log.js';
import { ApiError } from '../http/errors.js';
import type { CheckpointWatch } from '../projection-engine/checkpoint-watch.js';

/** How long a read waits for the position that its client has already seen (design 1.4). */
const MIN_POSITION_MS = 5_000;
const MISS_MS = 2_000;

/** The read models of this build's set. */
export class ReadModels {
  constructor(
    private readonly database: Database,
    readonly schema: string,
    private readonly watch: CheckpointWatch,
    private readonly log: EventLog,
  ) {}

  /** What every read that begins now holds at least. Throws like `query`. */
  get checkpoint(): Position {
    this.requireFilled();
    return this.watch.position;
  }

  /** Throws 503 `read_model_behind` until the set has been filled from the log once. */
  query<Row extends object>(name: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.requireFilled();
    return this.database.query<Row>(name, text, values);
  }

  /** Throws 400 for a position beyond the log's head, 503 `read_model_behind` when it is not reached in time. */
  async reach(position: Position): Promise<void> {
    if (position <= this.watch.position) return;
    const head = await this.log.head();
    if (head === null || position > head) {
      throw new ApiError('invalid_input', "Rollcall-Min-Position lies beyond the log's head.");
    }
    if (!(await this.watch.waitFor(position, MIN_POSITION_MS))) {
      throw new ApiError('read_model_behind', 'The read models have not reached this position yet.');
    }
  }

  /** After a miss: true when the read models have come to a position that they had not reached. */
  async caughtUpTo(position: Position): Promise<boolean> {
    return this.watch.waitFor(position, MISS_MS);
  }

  private requireFilled(): void {
    if (!this.watch.isFilled)
      throw new ApiError('read_model_behind', 'The read models are being filled from the log.');
  }
}
