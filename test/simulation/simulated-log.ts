import type { EventStoreDBClient } from '@eventstore/db-client';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { followAll } from '../../src/event-store/feed.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import type { LogFollower } from '../../src/projection-engine/ports.js';
import { roundTrip } from './round-trip.js';
import { SimulatedSubscription } from './simulated-subscription.js';
import type { Machine, Simulator } from './simulator.js';

interface Stub {
  makeServerStreamRequest(
    path: string,
    serialize: unknown,
    deserialize: unknown,
    request: streams.ReadReq,
  ): SimulatedSubscription;
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
    const stub: Stub = {
      makeServerStreamRequest: (_path, _serialize, _deserialize, request) => this.subscribe(machine, request),
    };
    const client = {
      callArguments: () => [],
      GRPCStreamCreator:
        (_client: unknown, _name: string, create: (stub: Stub) => SimulatedSubscription) => () =>
          Promise.resolve(create(stub)),
    } as unknown as EventStoreDBClient;
    return {
      get appendsInFlight() {
        return simulator.between(0, 12);
      },
      follow: (from, prefixes, handlers) => followAll(client, from, prefixes, handlers),
      read: (stream, { from, limit }) => this.read(machine, stream, from, limit),
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

  private async *read(
    machine: Machine,
    stream: string,
    from: bigint,
    limit: number,
  ): AsyncGenerator<RawEvent> {
    yield* await roundTrip<RawEvent[]>(this.simulator, {
      machine,
      what: `read ${stream} from ${from}`,
      hole: () => machine.logHole,
      limit: READ_LIMIT_MS,
      work: (answer) => {
        const found = this.events.filter((event) => event.stream === stream && event.revision >= from);
        answer({ value: found.slice(0, limit) });
      },
    });
  }

  private subscribe(machine: Machine, request: streams.ReadReq): SimulatedSubscription {
    const from = BigInt(request.getOptions()?.getAll()?.getPosition()?.getCommitPosition() ?? -1);
    this.simulator.note(`  ${machine.name} subscribes after ${from}`);
    const subscription = new SimulatedSubscription(this.simulator, machine, this, from, this.isHostile);
    this.subscriptions.set(machine, subscription);
    return subscription;
  }
}
