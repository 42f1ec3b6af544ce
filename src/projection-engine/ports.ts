import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedRow, RowKey } from '../../projections/projection.js';
import type { Feed, FeedHandlers } from '../event-store/feed.js';
import type { Position } from '../event-store/position.js';
import type { RawEvent } from '../event-store/recorded-event.js';
import type { Figures } from './engine-figures.js';
import type { KnownParked } from './parked-table.js';
import type { ParkedStream, RetryStep } from './parking.js';

export interface LogPlace {
  readonly position: Position;
  /** Epoch milliseconds, the log's clock. */
  readonly recordedAt: number;
}

/** The log, as the engine follows it. */
export interface LogFollower {
  /** Everything after `from` in the streams with one of these prefixes. One life: who follows, resumes. */
  follow(from: Position | null, prefixes: readonly string[], handlers: FeedHandlers): Feed;
  /** The newest event of the projected streams that lies near the head; null when none does. Throws within seconds. */
  newest(prefixes: readonly string[]): Promise<LogPlace | null>;
  /** Appends that this process has begun and not finished: events that will soon be there to project. */
  readonly appendsInFlight: number;
  /** The events of one stream from a revision on, at most so many. */
  read(stream: string, options: { readonly from: bigint; readonly limit: number }): AsyncIterable<RawEvent>;
}

/** Which node feeds the set, by the clock of the database. Every call may throw what the database says. */
export interface SetLease {
  /** The epoch now held, or null while another node holds the set. */
  acquire(): Promise<bigint | null>;
  /** False when the epoch is no longer ours. Others read the figures beside the lease; null: none are kept. */
  renew(epoch: bigint, figures: Figures | null): Promise<boolean>;
  /** Lets another node take over at once. */
  release(epoch: bigint): Promise<void>;
}

/** What one batch comes to in one read model. */
export interface RowChange {
  readonly projection: AnyProjection;
  readonly whole: readonly ProjectedRow[];
  /** Rows of which nothing but hot columns has changed. */
  readonly touched: readonly ProjectedRow[];
  readonly removed: readonly RowKey[];
}

/** The owner's own connection to the set. */
export interface SetConnection {
  checkpoint(): Promise<Position>;
  /** The rows of these keys that there are. */
  load(projection: AnyProjection, keys: readonly RowKey[]): Promise<ProjectedRow[]>;
  /**
   * Rows, parked streams and checkpoint in one transaction, refused when the epoch is not the owner's. Throws `Fenced`,
   * `UnstorableValue` or what Postgres says; then nothing was written, unless the connection went before the answer.
   */
  commit(changes: readonly RowChange[], parked: readonly ParkedStream[], upTo: Position): Promise<void>;
  /** Rows that come late and how far the retry of their stream has come; the checkpoint stays. Like `commit` otherwise. */
  commitLate(changes: readonly RowChange[], step: RetryStep): Promise<void>;
  /** The longest waiting of the retries that are asked for; null without one. */
  retryRequested(): Promise<{ readonly stream: string; readonly revision: bigint } | null>;
  /** The retry of this stream waits behind the others. */
  postponeRetry(stream: string): Promise<void>;
  /** Asks for the retry of every parked stream if another build owned the set before; says for how many. */
  takeOver(build: string): Promise<number>;
  /** The set holds all that the log held: from now on it can be read, however far it lags at times. */
  markFilled(): Promise<void>;
  close(): Promise<void>;
}

/** Where the set is kept. */
export interface SetStore {
  /** `lost` hears of an end of the connection that nobody asked for. */
  connect(epoch: bigint, lost: (error: Error) => void): Promise<SetConnection>;
  parkedStreams(): Promise<Map<string, KnownParked>>;
}

/** Who knows which streams are parked, on this node. */
export interface ParkingSink {
  /** Retries are asked for, as far as is known here. */
  readonly retryRequested: boolean;
  parked(stream: ParkedStream): void;
  freed(stream: string): void;
  /** No request was left when the owner looked. */
  noneRequested(): void;
  /** `listener` hears of requests for as long as nobody else listens. */
  onRequest(listener: () => void): void;
}

/** Who hears how far the set has come. */
export interface CheckpointSink {
  /** What is committed, as the owner has just read it. */
  restart(position: Position): void;
  advance(position: Position): void;
  markFilled(): void;
}
