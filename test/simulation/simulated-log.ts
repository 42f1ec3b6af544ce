import type { EventStoreDBClient } from '@eventstore/db-client';
import { followAll } from '../../src/event-store/feed.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import type { LogFollower } from '../../src/projection-engine/ports.js';
import { roundTrip } from './round-trip.js';
import { type CheckpointReached, SimulatedSubscription } from './simulated-subscription.js';
import type { Machine, Simulator } from './simulator.js';

interface SubscribeOptions {
  readonly fromPosition: string | { readonly commit: bigint };
  readonly filter: { readonly checkpointReached: CheckpointReached };
}

const READ_LIMIT_MS = 2_000;

/** An append-only log with gaps, and the real feed of the engine on its subscriptions. */
export class SimulatedLog {
  readonly events: RawEvent[] = [];
  head = -1n;
  private readonly subscriptions = new Map<Machine, SimulatedSubscription>();

  /** The newest event when a machine last asked for it. */
  readonly headTold = new Map<Machine, bigint>();

  constructor(
    private readonly simulator: Simulator,
    private readonly isHostile: () => boolean,
  ) {}

  append(events: readonly RawEvent[]): void {
    this.events.push(...events);
    // Other applications write behind it.
    this.head = (events.at(-1)?.position ?? this.head) + BigInt(this.simulator.between(0, 4));
    for (const subscription of this.subscriptions.values()) subscription.appended();
  }

  subscriptionOf(machine: Machine): SimulatedSubscription | undefined {
    return this.subscriptions.get(machine);
  }

  follower(machine: Machine): LogFollower {
    const { simulator } = this;
    const client = {
      subscribeToAll: (options: SubscribeOptions) => this.subscribe(machine, options),
    } as unknown as EventStoreDBClient;
    return {
      get appendsInFlight() {
        return simulator.between(0, 12);
      },
      follow: (from, prefixes, handlers) => followAll(client, from, prefixes, handlers),
      // Nothing is ever asked to be retried here.
      read: () => {
        throw new Error('no stream is read');
      },
      newest: () =>
        roundTrip(simulator, {
          machine,
          what: 'newest event',
          hole: () => machine.logHole,
          limit: READ_LIMIT_MS,
          work: (answer) => {
            const newest = this.events.at(-1) ?? null;
            if (newest) this.headTold.set(machine, newest.position);
            answer({ value: newest });
          },
        }),
    };
  }

  private subscribe(machine: Machine, { fromPosition, filter }: SubscribeOptions): SimulatedSubscription {
    const from = typeof fromPosition === 'string' ? -1n : fromPosition.commit;
    this.simulator.note(`  ${machine.name} subscribes after ${from}`);
    const subscription = new SimulatedSubscription(
      this.simulator,
      machine,
      this,
      from,
      filter.checkpointReached,
      this.isHostile,
    );
    this.subscriptions.set(machine, subscription);
    return subscription;
  }
}
