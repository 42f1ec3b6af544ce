import type { ReadRequest } from '../protocol/read-request.js';
import { NumberedFilter, compileFilter } from '../rules/event-filter.js';
import type { EventLog } from '../storage/event-log.js';

export interface CursorFilter {
  readonly on: 'stream-name' | 'event-type';
  readonly filter: NumberedFilter;
  /** Considered events between two checkpoints; undefined: none are wanted. */
  readonly checkpointInterval: number | undefined;
}

export function filterOf(
  log: EventLog,
  request: ReadRequest,
  checkpointInterval?: number,
): CursorFilter | undefined {
  if (request.filter === undefined) return undefined;
  const { on } = request.filter;
  const names = on === 'stream-name' ? log.streams : log.types;
  const filter = new NumberedFilter(compileFilter(request.filter), (id) => names.nameOf(id));
  return { on, filter, checkpointInterval };
}
