import { v5 } from 'uuid';
import { newUuid } from '../../uuid.js';
import type { CommandKey, CommandRecord } from '../recorded-event.js';
import type { Position } from '../position.js';
import type { Refusal } from '../../refusal.js';

/** Namespace of the event ids that follow from a command's key. */
const EVENT_NAMESPACE = '4b1d0f6e-6a52-4c39-9f43-0c7a1d5e2b90';

/** Who acts, why, and under which keys a retry would come. */
export interface CommandContext {
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId: string;
  readonly keys: readonly CommandKey[];
  /** The checkpoint at which `command-keys` did not know the keys; of no meaning without keys. */
  readonly lookedUpAt: Position;
  /** Event ids follow from it where the same act may come from two places; else from the first key, else by chance. */
  readonly seed: string | null;
  /** The HTTP status that success is answered with, kept with the keys. */
  readonly status: number;
}

export type Outcome<Result> =
  | {
      readonly kind: 'done';
      readonly result: Result;
      /** Of the last event appended; null when the command changed nothing. */
      readonly position: Position | null;
    }
  /** The same key and body came before; `record` holds what was answered then. */
  | { readonly kind: 'replayed'; readonly record: CommandRecord; readonly position: Position }
  /** The keys must be looked up again: the look-up is older than what this process still remembers. */
  | { readonly kind: 'look-again'; readonly from: Position }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** With a key, ids follow from it, so that the log itself refuses the twin; the body's hash tells twins apart. */
export function eventIdSource(context: CommandContext): (index: number) => string {
  const [key] = context.keys;
  const seed = context.seed ?? (key ? `${key.key}:${key.hash}` : null);
  return seed === null ? () => newUuid() : (index) => v5(`${seed}:${index}`, EVENT_NAMESPACE);
}
