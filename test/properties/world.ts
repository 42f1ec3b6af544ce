import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { isRefusal } from '../../src/refusal.js';
import type { Decision } from '../../src/event-store/aggregates/aggregate.js';
import { sessionAggregate } from '../../src/sessions/aggregate.js';
import type { SessionStreamEvent } from '../../src/sessions/domain/facts.js';
import { apparent, noSession, type SessionState } from '../../src/sessions/domain/state.js';

/** What one decision wrote on one stream, in one append. */
export type Append = readonly RawEvent[];

const STEP_MS = 250;

/** A log in the making: every event on it was decided on the state that its stream had then. */
export class World {
  readonly appends: Append[] = [];
  private readonly states = new Map<string, SessionState>();
  private readonly revisions = new Map<string, bigint>();
  private events = 0;

  /** In the order in which they were first mentioned. */
  readonly sessions: string[] = [];

  stateOf(id: string): SessionState {
    return this.states.get(id) ?? noSession;
  }

  /** The id of the next session to be made. */
  nextId(): string {
    const id = `s${this.sessions.length}`;
    this.sessions.push(id);
    return id;
  }

  /** Decides and appends, like a command: a deleted session is not there. Null when the decision was a refusal. */
  run<Result>(
    id: string,
    decide: (state: SessionState) => Decision<SessionStreamEvent, Result>,
  ): Result | null {
    if (apparent(this.stateOf(id)) !== this.stateOf(id)) return null;
    return this.follow(id, decide);
  }

  /** The same for what follows from another decision, which finds what is deleted too. */
  follow<Result>(
    id: string,
    decide: (state: SessionState) => Decision<SessionStreamEvent, Result>,
  ): Result | null {
    const decision = decide(this.stateOf(id));
    if (isRefusal(decision)) return null;
    if (decision.events.length > 0) this.append(id, decision.events);
    return decision.result;
  }

  append(id: string, events: readonly SessionStreamEvent[]): void {
    let state = this.stateOf(id);
    const raws = events.map((event) => {
      const place = this.nextPlace();
      state = sessionAggregate.evolve(state, event, place);
      return this.toRaw(id, event, place, state);
    });
    this.states.set(id, state);
    this.appends.push(raws);
  }

  private nextPlace(): { position: bigint; recordedAt: number } {
    this.events += 1;
    // Other applications write in between, and the clock of the log is coarser than its positions.
    return { position: BigInt(this.events * 7), recordedAt: Math.floor(this.events / 3) * STEP_MS };
  }

  private toRaw(
    id: string,
    { type, data }: SessionStreamEvent,
    { position, recordedAt }: { position: bigint; recordedAt: number },
    state: SessionState,
  ): RawEvent {
    const revision = (this.revisions.get(id) ?? -1n) + 1n;
    this.revisions.set(id, revision);
    const key = `key-${this.events}`;
    return {
      id: `event-${this.events}`,
      type,
      stream: `rollcall.session-${id}`,
      revision,
      position,
      recordedAt,
      data,
      metadata: {
        schema: 1,
        $correlationId: key,
        $causationId: key,
        actor: 'anonymous',
        occurred_at: new Date(recordedAt).toISOString(),
        ...sessionAggregate.lineageOf(state),
        command: { keys: [{ key, hash: 'h' }], status: 200, result: { id } },
      },
    };
  }
}
