import { Map as ImmutableMap } from 'immutable';
import type { CascadeKind } from './events.js';
import type { SessionStreamEvent } from './facts.js';

/** One intent: the session at its top, and which of that session's intents of this kind it is, counted from 1. */
export interface CascadeIntent {
  readonly kind: CascadeKind;
  readonly top: string;
  readonly sequence: number;
}

/** What a session knows of the cascades that began here or came through. */
export interface Cascades {
  /** Interrupts of this very session so far. */
  readonly interrupts: number;
  /** The newest intent of each kind that began here and has children to reach; 0: none. */
  readonly begun: Readonly<Record<CascadeKind, number>>;
  /** The newest of them below which everything has been reached. */
  readonly completed: Readonly<Record<CascadeKind, number>>;
  /** The newest interrupt followed, by the session at its top. */
  readonly followed: ImmutableMap<string, number>;
}

export const noCascades: Cascades = {
  interrupts: 0,
  begun: { interrupt: 0, delete: 0 },
  completed: { interrupt: 0, delete: 0 },
  followed: ImmutableMap(),
};

/** A session is deleted once. */
export const DELETE_SEQUENCE = 1;

export function isRunning({ begun, completed }: Cascades, kind: CascadeKind): boolean {
  return completed[kind] < begun[kind];
}

export function foldCascades(cascades: Cascades, event: SessionStreamEvent): Cascades {
  switch (event.type) {
    case 'SessionInterrupted': {
      const { sequence, follows, children } = event.data;
      const counted = { ...cascades, interrupts: Math.max(cascades.interrupts, sequence) };
      if (follows === null) return children === 0 ? counted : begin(counted, 'interrupt', sequence);
      const newest = Math.max(cascades.followed.get(follows.session_id) ?? 0, follows.sequence);
      return { ...counted, followed: cascades.followed.set(follows.session_id, newest) };
    }
    case 'SessionDeleted': {
      const { follows, children } = event.data;
      return follows === null && children > 0 ? begin(cascades, 'delete', DELETE_SEQUENCE) : cascades;
    }
    case 'CascadeCompleted': {
      const { kind, sequence } = event.data;
      const newest = Math.max(cascades.completed[kind], sequence);
      return { ...cascades, completed: { ...cascades.completed, [kind]: newest } };
    }
    default:
      return cascades;
  }
}

function begin(cascades: Cascades, kind: CascadeKind, sequence: number): Cascades {
  return { ...cascades, begun: { ...cascades.begun, [kind]: Math.max(cascades.begun[kind], sequence) } };
}
