import { UnstorableValue } from './row-codec.js';
import type { Position } from '../event-store/position.js';
import type { RawEvent } from '../event-store/recorded-event.js';

/** The event from which on a stream is not in the read models. */
export interface ParkedEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  readonly eventId: string;
  readonly eventType: string;
}

/** A stream whose events from `revision` on are not in the read models, and why. */
export interface ParkedStream extends ParkedEvent {
  readonly reason: string;
}

/** Where the retry of a parked stream has come to. */
export type RetryStep =
  /** Everything before this event is applied; the retry goes on. */
  | { readonly kind: 'moved'; readonly to: ParkedEvent }
  /** This event could not be applied; the retry is over. */
  | { readonly kind: 'parked'; readonly at: ParkedStream }
  /** Everything up to the checkpoint is applied; the retry is over. */
  | { readonly kind: 'free'; readonly stream: string };

/** Told whenever a stream is parked, free again or to be retried; a hint only, with the set's version. */
export const PARKING_CHANNEL = 'rollcall_parking';

const POISON_CLASSES = new Set(['22', '23', '54']);

/** What says that the data cannot be stored, by SQLSTATE class; everything else is worth another try (design 6). */
export function isPoison(error: unknown): boolean {
  if (error instanceof UnstorableValue) return true;
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return (
    typeof error.code === 'string' && error.code.length === 5 && POISON_CLASSES.has(error.code.slice(0, 2))
  );
}

export function parkedEventOf({ stream, revision, position, id, type }: RawEvent): ParkedEvent {
  return { stream, revision, position, eventId: id, eventType: type };
}
