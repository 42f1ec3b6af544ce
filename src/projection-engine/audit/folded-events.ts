import type { ProjectedEvent } from '../../../projections/projection.js';
import type { EventLog } from '../../event-store/event-log.js';
import type { Position } from '../../event-store/position.js';
import type { StreamNames } from '../../event-store/stream-names.js';
import type { EventReader } from '../event-reader.js';
import { followTo } from '../fill/follow-to.js';
import { NOTHING_APPLIED } from '../set-schema.js';

const BATCH_EVENTS = 256;

export interface FoldedStretch {
  readonly log: EventLog;
  readonly reader: EventReader;
  readonly names: StreamNames;
  /** From which position on the events of a stream are left out. */
  readonly leftOut: ReadonlyMap<string, Position>;
  /** A position that the log has reached. */
  readonly upTo: Position;
  readonly signal: AbortSignal;
}

/** Hands over, in the order of the log, what a fold up to a position applies. Throws the signal's reason or the feed's end. */
export async function foldedEvents(
  { log, reader, names, leftOut, upTo, signal }: FoldedStretch,
  take: (event: ProjectedEvent) => void,
): Promise<void> {
  if (upTo === NOTHING_APPLIED) return;
  const unreadable = new Set<string>();
  const source = { log, prefixes: names.projected(), batchEvents: BATCH_EVENTS, signal, failure: () => null };
  await followTo(source, NOTHING_APPLIED, upTo, (batch) => {
    for (const raw of batch) {
      const { stream, position } = raw;
      if (unreadable.has(stream) || position >= (leftOut.get(stream) ?? position + 1n)) continue;
      const reading = reader.read(raw);
      if (reading.kind === 'readable') take(reading.event);
      if (reading.kind === 'unreadable') unreadable.add(stream);
    }
    return Promise.resolve();
  });
}
