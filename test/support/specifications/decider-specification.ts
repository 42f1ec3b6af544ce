import { expect } from '@jest/globals';
import type { Aggregate, Decision } from '../../../src/event-store/aggregates/aggregate.js';
import type { DomainEvent } from '../../../src/event-store/event-type.js';
import type { RefusalCode } from '../../../src/refusal.js';

type Folding<State, Event extends DomainEvent> = Pick<Aggregate<State, Event>, 'initial' | 'evolve'>;

/**
 * Decisions as sentences: `given(what happened).when(decide).then([what happens])`, `.thenNothing()` or
 * `.thenRefused(code)`. Given events lie on positions 1, 2, 3, … of the log, a second apart from epoch 1 s on.
 */
export class DeciderSpecification<State, Event extends DomainEvent> {
  private constructor(private readonly folding: Folding<State, Event>) {}

  static for<State, Event extends DomainEvent>(
    folding: Folding<State, Event>,
  ): DeciderSpecification<State, Event> {
    return new DeciderSpecification(folding);
  }

  given(events: readonly Event[]): Given<State> {
    const { initial, evolve } = this.folding;
    const state = events.reduce(
      (folded, event, index) =>
        evolve(folded, event, { position: BigInt(index + 1), recordedAt: (index + 1) * 1_000 }),
      initial,
    );
    return new Given(state);
  }
}

class Given<State> {
  constructor(readonly state: State) {}

  when<Event extends DomainEvent, Result>(
    decide: (state: State) => Decision<Event, Result>,
  ): When<Event, Result> {
    return new When(decide(this.state));
  }
}

class When<Event extends DomainEvent, Result> {
  constructor(private readonly decision: Decision<Event, Result>) {}

  /** Exactly these events, in this order, and this result where one is given. */
  then(events: readonly Event[], result?: Result): void {
    expect(this.decision).toEqual({
      events,
      result: result === undefined ? this.accepted().result : result,
    });
  }

  thenNothing(result?: Result): void {
    this.then([], result);
  }

  thenRefused(code: RefusalCode, message: string | RegExp = /./): void {
    expect(this.decision).toMatchObject({
      refused: true,
      code,
      message: expect.stringMatching(message) as unknown,
    });
  }

  private accepted(): { readonly events: readonly Event[]; readonly result: Result } {
    if ('refused' in this.decision) throw new Error(`refused: ${this.decision.message}`);
    return this.decision;
  }
}
