import { setTimeout as delay } from 'node:timers/promises';
import type {
  AllStreamSubscription,
  Filter,
  Position,
  RecordedEvent,
  ResolvedEvent,
  StreamSubscription,
} from '@eventstore/db-client';
import { eventTypeFilter, streamNameFilter } from '@eventstore/db-client';

/** What a subscription delivered, in the order in which it did. */
export type Delivery =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'event'; readonly resolved: ResolvedEvent }
  | { readonly kind: 'checkpoint'; readonly position: Position }
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'error'; readonly error: unknown };

const POLL_MS = 5;
const LIMIT_MS = 10_000;

/** Polls until the condition holds; fails with `what` after ten seconds. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = Date.now() + LIMIT_MS;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`not within ${LIMIT_MS} ms: ${what}`);
    await delay(POLL_MS);
  }
}

/** Listens to a subscription and keeps everything. `stop` unsubscribes. */
export class RecordedSubscription {
  readonly deliveries: Delivery[];

  constructor(
    private readonly subscription: AllStreamSubscription | StreamSubscription,
    deliveries: Delivery[] = [],
  ) {
    this.deliveries = deliveries;
    const listen = subscription as AllStreamSubscription;
    listen.on('confirmation', () => deliveries.push({ kind: 'confirmed' }));
    listen.on('caughtUp', () => deliveries.push({ kind: 'caught-up' }));
    listen.on('error', (error) => deliveries.push({ kind: 'error', error }));
    listen.on('data', (resolved) => deliveries.push({ kind: 'event', resolved }));
  }

  get events(): RecordedEvent[] {
    return this.deliveries.flatMap((delivery) =>
      delivery.kind === 'event' && delivery.resolved.event !== undefined ? [delivery.resolved.event] : [],
    );
  }

  get checkpoints(): Position[] {
    return this.deliveries.flatMap((delivery) => (delivery.kind === 'checkpoint' ? [delivery.position] : []));
  }

  get errors(): unknown[] {
    return this.deliveries.flatMap((delivery) => (delivery.kind === 'error' ? [delivery.error] : []));
  }

  count(kind: Delivery['kind']): number {
    return this.deliveries.filter((delivery) => delivery.kind === kind).length;
  }

  eventsIn(stream: string): RecordedEvent[] {
    return this.events.filter((event) => event.streamId === stream);
  }

  async caughtUp(times = 1): Promise<this> {
    await until(`caught up ${times} times`, () => this.count('caught-up') >= times);
    return this;
  }

  async received(count: number): Promise<this> {
    await until(`${count} events`, () => this.events.length >= count);
    return this;
  }

  /** Unsubscribes; the client's stream closes without an error. */
  async stop(): Promise<void> {
    await this.subscription.unsubscribe();
    this.subscription.destroy();
  }
}

export interface FilterSketch {
  readonly on: 'stream' | 'type';
  readonly prefixes?: readonly string[];
  readonly regex?: string;
  readonly maxSearchWindow?: number;
  readonly checkpointInterval?: number;
}

/** A filter whose checkpoints go into `deliveries`, among the events between which they came. */
export function recordingFilter(sketch: FilterSketch, deliveries: Delivery[]): Filter {
  const checkpointReached = (_subscription: AllStreamSubscription, position: Position): Promise<void> => {
    deliveries.push({ kind: 'checkpoint', position });
    return Promise.resolve();
  };
  const build = sketch.on === 'stream' ? streamNameFilter : eventTypeFilter;
  const { maxSearchWindow, checkpointInterval } = sketch;
  const options = {
    checkpointReached,
    ...(maxSearchWindow === undefined ? {} : { maxSearchWindow }),
    ...(checkpointInterval === undefined ? {} : { checkpointInterval }),
  };
  return sketch.regex === undefined
    ? build({ ...options, prefixes: [...(sketch.prefixes ?? [])] })
    : build({ ...options, regex: sketch.regex });
}
