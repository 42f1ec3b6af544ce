import type { Refusal } from '../../refusal.js';
import { isRefusal, refuse } from '../../refusal.js';
import { encodeEvent } from '../encode.js';
import type { EventRegistry } from '../event-registry.js';
import type { DomainEvent } from '../event-type.js';
import type { CommandRecord, EncodedEvent } from '../recorded-event.js';
import type { Aggregate, Decision } from './aggregate.js';
import { eventIdSource, type CommandContext, type Outcome } from './command-context.js';
import type { RecentCommands } from './recent-commands.js';

/** What one append may hold, below the log's own limit of 1 MiB (design 3). */
export const APPEND_LIMIT_BYTES = 900 * 1024;

export interface JobRequest<State, Event extends DomainEvent, Result> {
  readonly context: CommandContext;
  readonly decide: (state: State) => Decision<Event, Result>;
  /** The ids to keep with the command's keys. */
  readonly record: (result: Result) => Readonly<Record<string, string>>;
}

export type Step<State, Result> =
  | { readonly settled: Outcome<Result> }
  | {
      readonly decided: readonly DomainEvent[];
      readonly events: readonly EncodedEvent[];
      readonly bytes: number;
      readonly result: Result;
      readonly record: CommandRecord | null;
      readonly state: State;
    };

/** One command waiting for its turn on a stream. Its event ids stay the same however often it is decided. */
export class Job<State, Event extends DomainEvent, Result> {
  private readonly eventId: (index: number) => string;
  private readonly ids: string[] = [];
  private settle: (outcome: Outcome<Result>) => void = () => undefined;
  private fail: (error: unknown) => void = () => undefined;
  readonly outcome: Promise<Outcome<Result>>;

  constructor(private readonly request: JobRequest<State, Event, Result>) {
    this.eventId = eventIdSource(request.context);
    this.outcome = new Promise((resolve, reject) => {
      this.settle = resolve;
      this.fail = reject;
    });
  }

  resolve(outcome: Outcome<Result>): void {
    this.settle(outcome);
  }

  reject(error: unknown): void {
    this.fail(error);
  }

  /** Decides on `state`; nothing is written yet. */
  step(
    aggregate: Aggregate<State, Event>,
    registry: EventRegistry,
    state: State,
    recent: RecentCommands,
    now: number,
  ): Step<State, Result> {
    const known = this.answerFrom(recent);
    if (known) return { settled: known };
    const decision = this.request.decide(state);
    if (isRefusal(decision)) return { settled: refused(decision) };
    if (decision.events.length === 0)
      return { settled: { kind: 'done', result: decision.result, position: null } };
    const record = this.recordOf(decision.result);
    let next = state;
    const events = decision.events.map((event, index) => {
      next = aggregate.evolve(next, event, { position: 0n, recordedAt: now });
      const last = index === decision.events.length - 1;
      return this.encode(registry, event, index, now, aggregate.lineageOf(next), last ? record : null);
    });
    const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
    if (bytes > APPEND_LIMIT_BYTES) {
      return {
        settled: refused(refuse('payload_too_large', 'The content is larger than one event can hold.')),
      };
    }
    return { decided: decision.events, events, bytes, result: decision.result, record, state: next };
  }

  private answerFrom(recent: RecentCommands): Outcome<Result> | null {
    const { keys, lookedUpAt } = this.request.context;
    if (keys.length === 0) return null;
    for (const key of keys) {
      const found = recent.find(key);
      if (!found) continue;
      if (found.hash === key.hash)
        return { kind: 'replayed', record: found.record, position: found.position };
      return refused(refuse('idempotency_mismatch', 'This key was used for another request.'));
    }
    return recent.coveredFrom > lookedUpAt ? { kind: 'look-again', from: recent.coveredFrom } : null;
  }

  private recordOf(result: Result): CommandRecord | null {
    const { keys, status } = this.request.context;
    return keys.length === 0 ? null : { keys, status, result: this.request.record(result) };
  }

  private encode(
    registry: EventRegistry,
    event: Event,
    index: number,
    now: number,
    lineage: ReturnType<Aggregate<State, Event>['lineageOf']>,
    command: CommandRecord | null,
  ): EncodedEvent {
    const id = (this.ids[index] ??= this.eventId(index));
    const { correlationId, causationId, actor } = this.request.context;
    return encodeEvent(registry, event, {
      id,
      correlationId,
      causationId,
      actor,
      occurredAt: now,
      lineage,
      command,
    });
  }
}

function refused(refusal: Refusal): { readonly kind: 'refused'; readonly refusal: Refusal } {
  return { kind: 'refused', refusal };
}
