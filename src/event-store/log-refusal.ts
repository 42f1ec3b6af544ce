import { refuse, type Refusal } from '../refusal.js';
import { AppendTooLarge, LogUnavailable, StreamTombstoned } from './errors.js';
import { UnreadableEvent } from './event-registry.js';

const AWAY: Readonly<Record<LogUnavailable['outcome'], string>> = {
  'nothing-written': 'The event log cannot be reached; nothing was stored.',
  unknown:
    'The event log did not answer in time, and it is not known whether this was stored. ' +
    'To repeat it with the same Idempotency-Key is safe.',
};

/** What keeps the log from being read or written, as clients are told (`api.md` 1); null for any other error. */
export function logRefusal(error: unknown): Refusal | null {
  if (error instanceof LogUnavailable) return refuse('log_unavailable', AWAY[error.outcome]);
  if (error instanceof AppendTooLarge)
    return refuse('payload_too_large', 'The content is larger than one event can hold.');
  if (error instanceof StreamTombstoned) return refuse('gone', 'This stream was deleted for good.');
  if (error instanceof UnreadableEvent) {
    return refuse('stream_parked', `The stream holds an event that this build cannot read: ${error.reason}.`);
  }
  return null;
}
