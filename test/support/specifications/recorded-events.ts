import type { ProjectedEvent } from '../../../projections/projection.js';
import type { RollcallEvent } from '../../../src/event-store/catalogue.js';
import type { EventMetadata } from '../../../src/event-store/recorded-event.js';

/** Positions of what `recorded` numbers: 10, 20, 30, …, recorded a second apart from epoch 1 s on. */
export const positionOf = (ordinal: number): bigint => BigInt(ordinal * 10);
export const timeOf = (ordinal: number): number => ordinal * 1_000;

export interface Happening {
  readonly subjectId: string;
  readonly event: RollcallEvent;
  readonly metadata: Partial<EventMetadata>;
}

/** What happened to one subject; `line` names its ancestors, root first. */
export function on(subjectId: string, event: RollcallEvent, line: readonly string[] = []): Happening {
  return { subjectId, event, metadata: { root_id: line[0] ?? subjectId, ancestor_ids: line } };
}

/** The same, as the end of a command with these keys. */
export function keyed(happening: Happening, command: NonNullable<EventMetadata['command']>): Happening {
  return { ...happening, metadata: { ...happening.metadata, command } };
}

/** Events as the log gives them back: the first is number `from`. */
export function recorded(happenings: readonly Happening[], from = 1): ProjectedEvent[] {
  return happenings.map(({ subjectId, event, metadata }, index) => {
    const ordinal = from + index;
    return {
      id: `event-${ordinal}`,
      stream: `rollcall.session-${subjectId}`,
      revision: BigInt(ordinal),
      position: positionOf(ordinal),
      recordedAt: timeOf(ordinal),
      metadata: {
        schema: 1,
        $correlationId: `request-${ordinal}`,
        $causationId: `request-${ordinal}`,
        actor: 'anonymous',
        occurred_at: new Date(timeOf(ordinal)).toISOString(),
        ...metadata,
      },
      event,
      subjectId,
    };
  });
}
