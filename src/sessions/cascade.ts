import pLimit from 'p-limit';
import type { CommandContext } from '../event-store/aggregates/command-context.js';
import type { Position } from '../event-store/position.js';
import type { FaultPoints } from '../fault-points/fault-points.js';
import { decideCascadeCompleted, decideReach } from './domain/decide/cascade.js';
import { type CascadeIntent, DELETE_SEQUENCE } from './domain/cascades.js';
import type { InterruptRequest } from './domain/events.js';
import { childIds } from './domain/state.js';
import { latest, type SessionCommands } from './session-commands.js';

/** Sessions of one cascade that are reached at the same time. */
const AT_ONCE = 8;

export interface CascadeOrder {
  readonly intent: CascadeIntent;
  /** How an interrupt was asked for; of no meaning to a deletion. */
  readonly requested: InterruptRequest;
  readonly context: CommandContext;
  /** Asked before each session; false ends the walk, to be begun again later. */
  readonly goesOn: () => boolean;
}

export interface CascadeOutcome {
  /** False: something below was not reached, by the will of `goesOn` or because it cannot be reached yet. */
  readonly done: boolean;
  /** Of the last event appended; null when all had been reached before. */
  readonly position: Position | null;
}

/**
 * Takes an interrupt or a deletion to everything below its session (design 4): each session first hears of it itself,
 * then its children follow, as its own stream names them up to there. Whatever is appended is decided on the stream and
 * has ids that follow from the intent, so a walk can be begun again at any time, and by two nodes at once.
 */
export class Cascade {
  constructor(
    private readonly sessions: SessionCommands,
    private readonly faults: FaultPoints,
  ) {}

  /** Throws what `SessionCommands.readEvenDeleted` throws for the session at the top. */
  async run(order: CascadeOrder): Promise<CascadeOutcome> {
    const { intent } = order;
    const top = await this.sessions.readEvenDeleted(intent.top);
    if (top.cascades.completed[intent.kind] >= intent.sequence) return { done: true, position: null };
    const walk = new Walk(this.sessions, this.faults, order);
    const reached = await walk.reachAll(childIds(top.children));
    if (!reached) return { done: false, position: walk.position };
    const completed = await this.sessions.follow(stepOf(order, 'end'), intent.top, (state) =>
      decideCascadeCompleted(state, intent),
    );
    if (completed.kind !== 'done') return { done: false, position: walk.position };
    return { done: true, position: latest(walk.position, completed.position) };
  }
}

class Walk {
  position: Position | null = null;
  private readonly visited = new Set<string>();
  private readonly slots = pLimit(AT_ONCE);
  private cut = false;

  constructor(
    private readonly sessions: SessionCommands,
    private readonly faults: FaultPoints,
    private readonly order: CascadeOrder,
  ) {}

  /** False when one of them, or something below, was not reached. */
  async reachAll(sessionIds: readonly string[]): Promise<boolean> {
    const all = await Promise.all(sessionIds.map((id) => this.reach(id)));
    return all.every((reached) => reached);
  }

  private async reach(sessionId: string): Promise<boolean> {
    // A log that was written by hand may hold a circle.
    if (this.visited.has(sessionId)) return true;
    this.visited.add(sessionId);
    const children = await this.slots(() => this.childrenAfterEffect(sessionId));
    return children !== null && this.reachAll(children);
  }

  /** Null: not reached. */
  private async childrenAfterEffect(sessionId: string): Promise<readonly string[] | null> {
    const { intent, requested, goesOn } = this.order;
    if (this.cut || !goesOn()) return null;
    await this.faults.pass('before-cascade-step');
    const outcome = await this.sessions.follow(stepOf(this.order, sessionId), sessionId, (state) =>
      decideReach(state, intent, requested),
    );
    if (outcome.kind === 'done') {
      this.position = latest(this.position, outcome.position);
      return outcome.result.children;
    }
    // An operator has put its stream to an end: it does nothing any more, and names nobody.
    if (outcome.kind === 'refused' && outcome.refusal.code === 'gone') return [];
    if (outcome.kind === 'refused' && outcome.refusal.code === 'log_unavailable') this.cut = true;
    return null;
  }
}

/** Event ids follow from the intent and the session that it reaches. */
function stepOf({ intent, context }: CascadeOrder, step: string): CommandContext {
  const { kind, top, sequence } = intent;
  return { ...context, keys: [], seed: `${kind}:${top}:${sequence}:${step}` };
}

export function deletionOf(sessionId: string): CascadeIntent {
  return { kind: 'delete', top: sessionId, sequence: DELETE_SEQUENCE };
}
