import { createEventRegistry, type RollcallEvent } from './catalogue.js';
import { parseEventLines } from './event-lines.js';
import type { RecordedEvent } from './recorded-event.js';
import { StreamNames } from './stream-names.js';

/** An event of a recording, with the aggregate instance that its stream belongs to. */
export interface ReplayedEvent extends RecordedEvent<RollcallEvent> {
  readonly subjectId: string;
}

/**
 * A recorded log as this build understands it, in log order: known types, lifted to their newest schema. Throws
 * `MalformedRecording` and `UnreadableEvent`.
 */
export function readRecording(text: string): ReplayedEvent[] {
  const registry = createEventRegistry();
  const raws = parseEventLines(text).filter(({ type }) => !registry.isPassedOver(type));
  return raws.map((raw) => {
    // The registry holds the catalogue's types only, so what it returns is one of them.
    const recorded = registry.decode(raw) as RecordedEvent<RollcallEvent>;
    return { ...recorded, subjectId: new StreamNames(prefixOf(raw.stream)).subjectOf(raw.stream) };
  });
}

/** A recording may come from a log with another prefix than this server's; a prefix ends with its only dot. */
function prefixOf(stream: string): string {
  return stream.slice(0, stream.indexOf('.') + 1);
}
