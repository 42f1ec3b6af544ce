import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock/clock.js';
import type { FaultPoints } from '../../fault-points/fault-points.js';
import type { EventLog } from '../event-log.js';
import type { EventRegistry } from '../event-registry.js';
import type { DomainEvent } from '../event-type.js';
import { refuse } from '../../refusal.js';
import { logRefusal } from '../log-refusal.js';
import type { Position } from '../position.js';
import type { Aggregate } from './aggregate.js';
import type { Outcome } from './command-context.js';
import { Job, type JobRequest } from './job.js';
import { StreamQueue, type StreamPorts } from './stream-queue.js';
import type { SnapshotStore } from './snapshot-store.js';
import { fromSnapshot, readTail, unwritten, type StreamState } from './stream-state.js';

const CACHED_STREAMS = 20_000;
/** Estimated bytes of all that is remembered. */
const CACHED_WEIGHT = 192 * 1024 * 1024;

export interface StorePorts {
  readonly log: EventLog;
  readonly registry: EventRegistry;
  readonly clock: Clock;
  readonly faults: FaultPoints;
  readonly snapshots: SnapshotStore;
  readonly checkpoint: () => Position;
  /** Whether the read models cannot follow a stream, so that nothing more may be written to it. */
  readonly isParked: (stream: string) => boolean;
}

export interface RunOptions {
  /** The stream's id was just made, so that reading it first would be a wasted round trip. */
  readonly presumedNew?: boolean;
}

/** Loads, decides and appends for all streams of one kind. */
export class AggregateStore<State, Event extends DomainEvent> {
  private readonly known = new LRUCache<string, StreamState<State>>({
    max: CACHED_STREAMS,
    maxSize: CACHED_WEIGHT,
    sizeCalculation: ({ state }) => this.aggregate.weightOf(state),
  });
  private readonly queues = new Map<string, StreamQueue<State, Event>>();

  constructor(
    private readonly aggregate: Aggregate<State, Event>,
    private readonly ports: StorePorts,
  ) {}

  /** What keeps the log from being read or written becomes a refusal; anything else is thrown. */
  async run<Result>(
    stream: string,
    request: JobRequest<State, Event, Result>,
    options: RunOptions = {},
  ): Promise<Outcome<Result>> {
    if (this.ports.isParked(stream)) {
      const refusal = refuse('stream_parked', 'An event of this stream cannot be shown; nothing was stored.');
      return { kind: 'refused', refusal };
    }
    const job = new Job(request);
    this.queueOf(stream).add(job, options.presumedNew ?? false);
    try {
      return await job.outcome;
    } catch (error) {
      const refusal = logRefusal(error);
      if (!refusal) throw error;
      return { kind: 'refused', refusal };
    }
  }

  /** What this process last knew, else what the log holds. Throws `LogUnavailable`, `UnreadableEvent`, `StreamTombstoned`. */
  async recall(stream: string): Promise<State> {
    const known = this.known.get(stream);
    return known && known.revision >= 0n ? known.state : this.read(stream);
  }

  /** The state with everything that the log holds by now. Throws like `recall`. */
  async read(stream: string): Promise<State> {
    const { log, registry, snapshots } = this.ports;
    const known = this.known.get(stream) ?? (await fromSnapshot(snapshots, this.aggregate, stream));
    const read = (await readTail(log, registry, this.aggregate, stream, known)).stream;
    const newest = this.known.get(stream);
    if (read.revision >= 0n && (!newest || newest.revision < read.revision)) this.known.set(stream, read);
    return read.state;
  }

  private queueOf(stream: string): StreamQueue<State, Event> {
    let queue = this.queues.get(stream);
    if (!queue) {
      const idle = (): void => void this.queues.delete(stream);
      queue = new StreamQueue(this.aggregate, stream, this.portsOf(stream), unwritten(this.aggregate), idle);
      this.queues.set(stream, queue);
    }
    return queue;
  }

  private portsOf(stream: string): StreamPorts<State> {
    return {
      ...this.ports,
      recall: () => this.known.get(stream),
      remember: (known) => void this.known.set(stream, known),
      forget: () => void this.known.delete(stream),
    };
  }
}
