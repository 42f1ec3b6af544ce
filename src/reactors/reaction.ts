import type { OwedRow } from '../../projections/obligations/projection.js';
import type { CommandContext } from '../event-store/aggregates/command-context.js';

export interface Occasion {
  /** Who acts, why, and what event ids follow from. */
  readonly context: CommandContext;
  /** False once this node must not act any more. */
  readonly goesOn: () => boolean;
}

/**
 * How one kind of obligation is met: a decision on the stream that it concerns, with ids that follow from the cause, so
 * that meeting it twice changes nothing. False: it could not be met yet and stays owed.
 */
export type Reaction = (owed: OwedRow, occasion: Occasion) => Promise<boolean>;
