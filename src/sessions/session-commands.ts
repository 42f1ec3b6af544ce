import type { Principal } from '../auth/principal.js';
import type { CommandContext, Outcome } from '../event-store/aggregates/command-context.js';
import type { Decision } from '../event-store/aggregates/aggregate.js';
import type { Position } from '../event-store/position.js';
import type { StreamNames } from '../event-store/stream-names.js';
import { isRefusal, refuse, type Refusal } from '../refusal.js';
import { accessible } from './access.js';
import type { SessionStore } from './aggregate.js';
import type { SessionFacts, SessionStreamEvent } from './domain/facts.js';
import type { DeletedSubtrees } from './deleted-subtrees.js';
import { apparent, noSession, type SessionState } from './domain/state.js';

export interface SessionStep<Result> {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly decide: (state: SessionState) => Decision<SessionStreamEvent, Result>;
  readonly record?: (result: Result) => Readonly<Record<string, string>>;
  readonly ifMatch?: Position | '*' | null;
}

/** One decision on one session's stream, after the checks that all commands share. */
export class SessionCommands {
  constructor(
    private readonly store: SessionStore,
    private readonly names: StreamNames,
    private readonly deleted: DeletedSubtrees,
  ) {}

  decide<Result>(context: CommandContext, step: SessionStep<Result>): Promise<Outcome<Result>> {
    return this.store.run(this.names.session(step.sessionId), {
      context,
      record: step.record ?? (() => ({})),
      decide: (state) => {
        const facts = accessible(step.principal, this.shown(state));
        if (isRefusal(facts)) return facts;
        return versionRefusal(facts, step.ifMatch ?? null) ?? step.decide(state);
      },
    });
  }

  /** For steps that follow from a decision already made: they need no principal and no key, and find what is deleted. */
  follow<Result>(
    context: CommandContext,
    sessionId: string,
    decide: (state: SessionState) => Decision<SessionStreamEvent, Result>,
    options: { presumedNew?: boolean } = {},
  ): Promise<Outcome<Result>> {
    const stream = this.names.session(sessionId);
    return this.store.run(stream, { context: { ...context, keys: [] }, record: () => ({}), decide }, options);
  }

  /** What this process last knew of a session, else what the log holds. A deleted one is not there. */
  async recall(sessionId: string): Promise<SessionState> {
    return this.shown(await this.store.recall(this.names.session(sessionId)));
  }

  /** With everything that the log holds by now. A deleted one is not there. */
  async read(sessionId: string): Promise<SessionState> {
    return this.shown(await this.readEvenDeleted(sessionId));
  }

  readEvenDeleted(sessionId: string): Promise<SessionState> {
    return this.store.read(this.names.session(sessionId));
  }

  recallEvenDeleted(sessionId: string): Promise<SessionState> {
    return this.store.recall(this.names.session(sessionId));
  }

  private shown(state: SessionState): SessionState {
    const { facts } = state;
    return facts && this.deleted.coverOneOf([...facts.ancestorIds, facts.id]) ? noSession : apparent(state);
  }
}

/** `If-Match`: the position of the last event on the session's own stream, or any existing session. */
export function versionRefusal(facts: SessionFacts, ifMatch: Position | '*' | null): Refusal | null {
  if (ifMatch === null || ifMatch === '*' || ifMatch === facts.position) return null;
  return outdated();
}

export function outdated(): Refusal {
  return refuse('precondition_failed', 'The session has changed since this version.');
}

export function latest(...positions: readonly (Position | null)[]): Position | null {
  return positions.reduce(
    (newest, position) => (newest === null || (position !== null && position > newest) ? position : newest),
    null,
  );
}
