import type { Position } from '../position.js';

/** A folded stream as it was stored; only a shortcut: losing it costs a longer read and nothing else. */
export interface StoredSnapshot {
  readonly revision: bigint;
  /** Of the event at `revision`. */
  readonly position: Position;
  readonly state: unknown;
}

/** How a state goes into JSON and back. `version` rises whenever the same events would fold to another state. */
export interface SnapshotCodec<State> {
  readonly version: number;
  toJson(state: State): unknown;
  fromJson(json: unknown): State;
}

export interface SnapshotStore {
  /** Null when there is none of this version. */
  load(stream: string, version: number): Promise<StoredSnapshot | null>;
  /** Best effort; never rejects. */
  save(stream: string, version: number, snapshot: StoredSnapshot): Promise<void>;
}
