import type { Position } from '../../event-store/position.js';
import type { ParkedStream } from '../parking.js';
import type { LiveState } from './live-set.js';
import { ShadowSet, ShadowSetInUse, type ShadowSetOptions } from '../fill/shadow-set.js';

/** A process that was told to end may still be at it. */
const PATIENCE_MS = 15_000;
const PAUSE_MS = 250;

/** What was folded is of no use any more: the live set has applied what this fold left out, or less than this fold. */
export class StartOver extends Error {}

export interface FoldOptions extends Omit<ShadowSetOptions, 'version' | 'parked' | 'onProgress'> {
  readonly setVersion: string;
  /** What the live set said before. */
  readonly first: LiveState;
  readonly onProgress: () => void;
}

/** Folds the log beside the live set, leaving out what that has parked. Throws `ShadowSetInUse`. */
export async function openFold(options: FoldOptions): Promise<Fold> {
  const { setVersion, first, signal, onProgress } = options;
  const version = `${setVersion}_audit`;
  const leftOut = new Map(first.parked.map(({ stream, position }) => [stream, position]));
  const progress = { events: 0 };
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      const set = await ShadowSet.open({
        ...options,
        version,
        // What a process that was killed has left is of another moment.
        afresh: true,
        parked: leftOut,
        onProgress: ({ events }) => {
          progress.events = events;
          onProgress();
        },
      });
      return new Fold(set, leftOut, progress);
    } catch (error) {
      if (!(error instanceof ShadowSetInUse) || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

export class Fold {
  constructor(
    private readonly set: ShadowSet,
    /** From which position on the events of a stream are not in the fold. */
    private readonly lost: Map<string, Position>,
    private readonly progress: { readonly events: number },
  ) {}

  get schema(): string {
    return this.set.schema;
  }

  get events(): number {
    return this.progress.events;
  }

  get position(): Position {
    return this.set.position;
  }

  /** What only this fold parked. */
  get parked(): readonly ParkedStream[] {
    return this.set.parked;
  }

  get leftOut(): ReadonlyMap<string, Position> {
    const own = this.parked.map(({ stream, position }) => [stream, position] as const);
    return new Map([...this.lost, ...own]);
  }

  /** Afterwards the tables hold the fold of all that the live set holds. Throws `StartOver`. */
  async fillTo({ position, parked }: LiveState): Promise<void> {
    if (position < this.set.position) throw new StartOver('the read models went back to an earlier position');
    const standing = new Map(parked.map((stream) => [stream.stream, stream.position]));
    for (const [stream, from] of this.lost) {
      if (standing.get(stream) !== from) throw new StartOver('parked streams were taken up again');
    }
    for (const [stream, from] of standing) {
      if (this.lost.has(stream)) continue;
      if (from <= this.set.position) throw new StartOver('streams were parked that had been applied');
      this.lost.set(stream, from);
      this.set.leaveOut(stream, from);
    }
    await this.set.fillTo(position);
  }

  drop(): Promise<void> {
    return this.set.drop();
  }
}
