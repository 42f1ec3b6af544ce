import { principalKey } from '../auth/principal.js';
import type { Database } from '../database/database.js';
import type { CommandContext, Outcome } from '../event-store/aggregates/command-context.js';
import type { Position } from '../event-store/position.js';
import type { CommandKey } from '../event-store/recorded-event.js';
import type { CheckpointWatch } from '../projection-engine/checkpoint-watch.js';
import { isRefusal, refuse, type Refusal } from '../refusal.js';
import type { CommandKeys, KeyLookUp } from './command-keys.js';
import type { CommandRequest } from './command-request.js';
import type { InFlightKeys } from './in-flight-keys.js';

/** A command answers once its change is visible, or after this (design 1.4). */
const VISIBLE_MS = 2_000;
const LOOK_UPS = 5;
const NO_KEYS: KeyLookUp = { known: [], checkpoint: -1n };

export type Ids = Readonly<Record<string, string>>;

export interface Answer<Result> {
  readonly result: Result;
  /** Of the last event that the command appended; the checkpoint when it changed nothing. */
  readonly position: Position;
  /** Whether the read models of this answer's position are ready. */
  readonly projected: boolean;
  readonly replayed: boolean;
}

interface Done<Result> {
  readonly result: Result;
  readonly position: Position | null;
  readonly replayed: boolean;
}

export interface CommandPlan<Result extends Ids> {
  readonly request: CommandRequest;
  /** The HTTP status of success. */
  readonly status: number;
  /** A key that the content itself gives, beside the request's own. */
  readonly naturalKey?: CommandKey | undefined;
  readonly carryOut: (context: CommandContext) => Promise<Outcome<Result>>;
  /** What has to be true before a repeated command is answered; at most an append that may be there already. */
  readonly completeReplay?: (result: Result, context: CommandContext) => Promise<Position | null>;
}

/** Carries a command out once per key, and answers when its change can be read. */
export class CommandRunner {
  constructor(
    private readonly database: Database,
    private readonly keys: CommandKeys,
    private readonly inFlight: InFlightKeys,
    private readonly watch: CheckpointWatch,
  ) {}

  async run<Result extends Ids>(plan: CommandPlan<Result>): Promise<Answer<Result> | Refusal> {
    const away = await this.database.refusalIfAway();
    if (away) return away;
    const keys = [plan.naturalKey, plan.request.idempotency].filter(
      (key) => key !== undefined && key !== null,
    );
    const done = await this.inFlight.alone(keys, () => this.keyed(plan, keys));
    if (isRefusal(done)) return done;
    const projected = await this.visible(plan.request, done.position);
    return { ...done, position: done.position ?? this.watch.position, projected };
  }

  private async keyed<Result extends Ids>(
    plan: CommandPlan<Result>,
    keys: readonly CommandKey[],
  ): Promise<Done<Result> | Refusal> {
    for (let attempt = 0; attempt < LOOK_UPS; attempt += 1) {
      const { known, checkpoint } = keys.length === 0 ? NO_KEYS : await this.keys.find(keys);
      const [first] = known;
      if (first) {
        const same = known.every((command) =>
          keys.some(({ key, hash }) => key === command.key && hash === command.hash),
        );
        return same ? this.replay(plan, first.result as Result, first.position) : mismatch();
      }
      const done = await this.once(plan, keys, checkpoint);
      if (!('lookAgainFrom' in done)) return done;
      await this.watch.waitFor(done.lookAgainFrom, VISIBLE_MS);
    }
    return refuse('read_model_behind', 'The read models are behind; nothing was stored.');
  }

  private async once<Result extends Ids>(
    plan: CommandPlan<Result>,
    keys: readonly CommandKey[],
    lookedUpAt: Position,
  ): Promise<Done<Result> | Refusal | { readonly lookAgainFrom: Position }> {
    const outcome = await plan.carryOut(contextOf(plan, keys, lookedUpAt));
    switch (outcome.kind) {
      case 'done':
        return { result: outcome.result, position: outcome.position, replayed: false };
      case 'replayed':
        return this.replay(plan, outcome.record.result as Result, outcome.position);
      case 'refused':
        return outcome.refusal;
      case 'look-again':
        return { lookAgainFrom: outcome.from };
    }
  }

  private async replay<Result extends Ids>(
    plan: CommandPlan<Result>,
    result: Result,
    position: Position,
  ): Promise<Done<Result>> {
    const completed = (await plan.completeReplay?.(result, contextOf(plan, [], -1n))) ?? position;
    return { result, position: completed > position ? completed : position, replayed: true };
  }

  private visible({ waits }: CommandRequest, position: Position | null): Promise<boolean> {
    if (position === null) return Promise.resolve(true);
    return this.watch.waitFor(position, waits ? VISIBLE_MS : 0);
  }
}

function contextOf<Result extends Ids>(
  plan: CommandPlan<Result>,
  keys: readonly CommandKey[],
  lookedUpAt: Position,
): CommandContext {
  const { requestId, principal } = plan.request;
  return {
    actor: principalKey(principal),
    correlationId: requestId,
    causationId: requestId,
    keys,
    lookedUpAt,
    seed: null,
    status: plan.status,
  };
}

function mismatch(): Refusal {
  return refuse('idempotency_mismatch', 'This key was used for another request.');
}
