import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { BACKWARDS, END, jsonEvent } from '@eventstore/db-client';
import type { EventStoreUnderTest } from './event-store-under-test.js';
import { startEventStore } from './event-store-under-test.js';
import { RecordedSubscription, recordingFilter, until } from './recorded-subscription.js';
import { recordedIn } from './sample-events.js';
import type { Expected, ModelOutcome, ModelRead } from './stream-model.js';
import { StreamModel } from './stream-model.js';

const STREAMS = 4;
const RUNS = Number(process.env['ROLLCALL_PROPERTY_RUNS'] ?? 40);

type Step =
  | {
      readonly kind: 'append';
      readonly expected: 'any' | 'no_stream' | 'stream_exists' | 'right' | 'wrong';
      readonly count: number;
    }
  | { readonly kind: 'retry' }
  | { readonly kind: 'read' }
  | {
      readonly kind: 'delete' | 'tombstone';
      readonly expected: 'any' | 'no_stream' | 'right' | 'wrong';
    }
  | {
      readonly kind: 'metadata';
      readonly maxCount: number | undefined;
      readonly truncateBefore: number | undefined;
    };

const append = fc.record({
  kind: fc.constant('append' as const),
  expected: fc.constantFrom('any', 'no_stream', 'stream_exists', 'right', 'right', 'right', 'wrong'),
  count: fc.integer({ min: 1, max: 6 }),
});
const metadata = fc.record({
  kind: fc.constant('metadata' as const),
  maxCount: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  truncateBefore: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
});
const deletion = <Kind extends 'delete' | 'tombstone'>(kind: Kind) =>
  fc.record({
    kind: fc.constant(kind),
    expected: fc.constantFrom('any', 'any', 'no_stream', 'right', 'wrong'),
  });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: append },
  { weight: 3, arbitrary: fc.constant({ kind: 'retry' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'read' as const }) },
  { weight: 2, arbitrary: metadata },
  { weight: 2, arbitrary: deletion('delete') },
  { weight: 1, arbitrary: deletion('tombstone') },
);
/** A round: one step for each of some streams, all at the same time. */
const round = fc.uniqueArray(fc.record({ stream: fc.nat(STREAMS - 1), step }), {
  selector: (entry) => entry.stream,
  minLength: 1,
  maxLength: STREAMS,
});

class Actor {
  readonly model = new StreamModel();
  private last: { expected: Expected; ids: string[] } | undefined;

  constructor(
    private readonly store: EventStoreUnderTest,
    readonly stream: string,
  ) {}

  async take(next: Step): Promise<void> {
    if (next.kind === 'read') {
      expect(await this.read()).toEqual(this.model.read());
      return;
    }
    const [real, model] = this.perform(next);
    const outcome = await outcomeOf(real);
    if (next.kind === 'append' || next.kind === 'retry') expect(outcome).toEqual(model);
    else expect(outcome.kind).toBe(model.kind);
  }

  async read(): Promise<ModelRead> {
    const { client } = this.store;
    try {
      const ids = (await recordedIn(client.readStream(this.stream))).map((event) => event.id);
      const backwards = client.readStream(this.stream, { direction: BACKWARDS, fromRevision: END });
      expect((await recordedIn(backwards)).map((event) => event.id).toReversed()).toEqual(ids);
      return { kind: 'events', ids };
    } catch (error) {
      return { kind: typeOf(error) } as ModelRead;
    }
  }

  private perform(next: Exclude<Step, { kind: 'read' }>): [Promise<unknown>, ModelOutcome] {
    const { client } = this.store;
    switch (next.kind) {
      case 'append':
        this.last = { expected: this.expectation(next.expected), ids: newIds(next.count) };
        return this.append(this.last);
      case 'retry':
        // A retry at `any` reaches as far as a server's memory, and so does one across a deletion.
        if (
          this.last === undefined ||
          this.last.expected === 'any' ||
          this.last.expected === 'stream_exists'
        ) {
          this.last = { expected: this.expectation('right'), ids: newIds(1) };
        } else if (this.model.deletedEver) {
          this.last = { expected: this.expectation('right'), ids: newIds(2) };
        }
        return this.append(this.last);
      case 'delete': {
        const expectedRevision = this.expectationOfDeletion(next.expected);
        const real = client.deleteStream(this.stream, { expectedRevision });
        return [real, this.model.softDelete(expectedRevision)];
      }
      case 'tombstone': {
        const expectedRevision = this.expectationOfDeletion(next.expected);
        const real = client.tombstoneStream(this.stream, { expectedRevision });
        return [real, this.model.tombstone(expectedRevision)];
      }
      case 'metadata': {
        const { maxCount, truncateBefore } = next;
        const set = {
          ...(maxCount === undefined ? {} : { maxCount }),
          ...(truncateBefore === undefined ? {} : { truncateBefore }),
        };
        return [client.setStreamMetadata(this.stream, set), this.model.setMetadata(set)];
      }
      default:
        return next satisfies never;
    }
  }

  private append({ expected, ids }: { expected: Expected; ids: string[] }): [Promise<unknown>, ModelOutcome] {
    const events = ids.map((id) => jsonEvent({ id, type: 'Step', data: {} }));
    const real = this.store.client.appendToStream(this.stream, events, { expectedRevision: expected });
    return [real, this.model.append(expected, ids)];
  }

  private expectationOfDeletion(
    wish: 'any' | 'no_stream' | 'right' | 'wrong',
  ): Exclude<Expected, 'stream_exists'> {
    const expected = this.expectation(wish);
    return expected === 'stream_exists' ? 'any' : expected;
  }

  private expectation(wish: 'any' | 'no_stream' | 'stream_exists' | 'right' | 'wrong'): Expected {
    const count = this.model.written.length;
    if (wish === 'wrong') return BigInt(count + 3);
    if (wish !== 'right') return wish;
    return count === 0 ? 'no_stream' : BigInt(count - 1);
  }
}

const newIds = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

function typeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : String(error);
}

async function outcomeOf(
  real: Promise<unknown>,
): Promise<{ kind: string; lastRevision?: bigint | undefined }> {
  try {
    const result = await real;
    return {
      kind: 'written',
      lastRevision: (result as { nextExpectedRevision?: bigint }).nextExpectedRevision,
    };
  } catch (error) {
    return { kind: typeOf(error) };
  }
}

let store: EventStoreUnderTest;
beforeAll(async () => {
  store = await startEventStore();
});
afterAll(() => store.stop());

describe('any history of appends, retries, deletions and metadata', () => {
  it('leaves each stream, the log and a subscription as the rules say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 14 }), async (rounds) => {
        const run = `history-${randomUUID()}`;
        const actors = Array.from({ length: STREAMS }, (_, index) => new Actor(store, `${run}-${index}`));
        const filter = recordingFilter({ on: 'stream', prefixes: [run] }, []);
        const live = new RecordedSubscription(store.client.subscribeToAll({ fromPosition: END, filter }));
        await live.caughtUp();
        for (const entries of rounds) {
          await Promise.all(
            entries.map((entry) => actors[entry.stream]?.take(entry.step) ?? Promise.resolve()),
          );
        }
        for (const actor of actors) {
          expect(await actor.read()).toEqual(actor.model.read());
          const written = actor.model.written;
          await until('all live events', () => idsOf(live, actor.stream).length >= written.length);
          expect(idsOf(live, actor.stream)).toEqual(written);
        }
        await live.stop();
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});

function idsOf(subscription: RecordedSubscription, stream: string): string[] {
  return subscription
    .eventsIn(stream)
    .filter((event) => event.type === 'Step')
    .map((event) => event.id);
}
