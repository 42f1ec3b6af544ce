import type { OwedRow } from '../../projections/obligations/projection.js';
import type { CommandContext } from '../event-store/aggregates/command-context.js';
import type { Position } from '../event-store/position.js';
import type { EngineLog } from '../projection-engine/engine.js';
import type { Scheduler } from '../projection-engine/scheduler.js';
import { BackOff } from './back-off.js';
import type { Reactions } from './reactions.js';
import { type OwedNow, PAGE, type ToDoList } from './to-do-list.js';

/** The command that caused an obligation meets it first; what is still owed a moment later is met here. */
const PATIENCE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
const REMEMBERED = 10_000;
/** Obligations that are worked on at the same time. */
const AT_ONCE = 8;

const NOTHING_SEEN = -1n;

export interface ReactorPorts {
  readonly list: ToDoList;
  readonly reactions: Reactions;
  /** How far the read models of this node have come. */
  readonly checkpoint: () => Position;
  /** False while the set is filled or catches up: then much looks owed that the log has long seen met. */
  readonly isLive: () => boolean;
  readonly scheduler: Scheduler;
  readonly logger: EngineLog;
}

export interface ReactorReport extends OwedNow {
  /** Of this node since its start. */
  readonly met: number;
  readonly failing: number;
}

/**
 * Where all reactions live: it meets what one stream owes another (design 4). It acts on the owner of the set alone,
 * under the owner's epoch. An append cannot be fenced by Postgres, so each reaction decides on the stream itself, with
 * ids that follow from the cause: what a former owner still has under way changes nothing that the new one does.
 */
export class ReactorHome {
  private callOff: (() => void) | null = null;
  private epoch: bigint | null = null;
  /** What was already owed at the last look, so that only what stays owed is acted upon. */
  private seen: Position = NOTHING_SEEN;
  private looking: Promise<void> | null = null;
  private readonly running = new Map<string, Promise<void>>();
  private readonly backOff: BackOff;
  private met = 0;

  constructor(private readonly ports: ReactorPorts) {
    const { scheduler } = ports;
    this.backOff = new BackOff({
      firstMs: PATIENCE_MS,
      longestMs: LONGEST_PAUSE_MS,
      names: REMEMBERED,
      now: () => scheduler.now(),
      chance: () => scheduler.random(),
    });
  }

  /** The node owns the set under this epoch. */
  start(epoch: bigint): void {
    this.epoch = epoch;
    this.seen = NOTHING_SEEN;
    this.backOff.forgetAll();
    this.callOff ??= this.ports.scheduler.every(PATIENCE_MS, () => this.look());
  }

  async stop(): Promise<void> {
    this.callOff?.();
    this.callOff = null;
    this.epoch = null;
    await this.looking;
    await Promise.all(this.running.values());
  }

  async report(): Promise<ReactorReport> {
    return { ...(await this.ports.list.owedNow()), met: this.met, failing: this.backOff.failing };
  }

  private look(): void {
    const { epoch, ports } = this;
    if (this.looking || epoch === null || !ports.isLive()) return;
    const upTo = this.seen;
    this.seen = ports.checkpoint();
    this.looking = this.beginAll(epoch, upTo)
      .catch((error: unknown) => ports.logger.warn({ err: error }, 'what is owed could not be read'))
      .finally(() => {
        this.looking = null;
      });
  }

  /** Page by page, as slots become free; what cannot be met keeps nothing else waiting. */
  private async beginAll(epoch: bigint, upTo: Position): Promise<void> {
    for (let from = NOTHING_SEEN; upTo > NOTHING_SEEN;) {
      const rows = await this.ports.list.due(epoch, from, upTo);
      for (const owed of rows) {
        while (this.running.size >= AT_ONCE) await Promise.race(this.running.values());
        if (this.epoch !== epoch) return;
        from = owed.position;
        this.begin(owed, epoch);
      }
      if (rows.length < PAGE) return;
    }
  }

  private begin(owed: OwedRow, epoch: bigint): void {
    const name = `${owed.kind} ${owed.child_id} ${owed.cause_id}`;
    if (this.running.has(name) || !this.backOff.isDue(name)) return;
    const attempt = this.attempt(owed, name, epoch).finally(() => this.running.delete(name));
    this.running.set(name, attempt);
  }

  private async attempt(owed: OwedRow, name: string, epoch: bigint): Promise<void> {
    const goesOn = (): boolean => this.epoch === epoch;
    try {
      const isMet = await this.ports.reactions[owed.kind](owed, { context: contextOf(owed), goesOn });
      if (!isMet) return this.backOff.failed(name);
      this.met += 1;
      this.backOff.done(name);
    } catch (error) {
      this.backOff.failed(name);
      this.ports.logger.warn({ err: error, obligation: name }, 'an obligation could not be met yet');
    }
  }
}

function contextOf({ kind, cause_id, correlation_id }: OwedRow): CommandContext {
  return {
    actor: `system:${kind}-reactor`,
    correlationId: correlation_id,
    causationId: cause_id,
    keys: [],
    lookedUpAt: NOTHING_SEEN,
    seed: `${cause_id}:${kind}`,
    status: 200,
  };
}
