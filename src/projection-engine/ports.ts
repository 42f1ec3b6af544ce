import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedRow, RowKey } from '../../projections/projection.js';
import type { Feed, FeedHandlers } from '../event-store/feed.js';
import type { Position } from '../event-store/position.js';
import type { Figures } from './engine-figures.js';
import type { ParkedStream } from './parking.js';

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
  /** The set holds all that the log held: from now on it can be read, however far it lags at times. */
  markFilled(): Promise<void>;
  close(): Promise<void>;
}

/** Where the set is kept. */
export interface SetStore {
  /** `lost` hears of an end of the connection that nobody asked for. */
  connect(epoch: bigint, lost: (error: Error) => void): Promise<SetConnection>;
  /** Each parked stream with the position from which on its events are not in the read models. */
  parkedStreams(): Promise<Map<string, Position>>;
}

/** Who hears how far the set has come. */
export interface CheckpointSink {
  /** What is committed, as the owner has just read it. */
  restart(position: Position): void;
  advance(position: Position): void;
  markFilled(): void;
}
