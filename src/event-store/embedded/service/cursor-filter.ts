import { invalidArgument } from '../protocol/grpc-error.js';
import type { ReadRequest } from '../protocol/read-request.js';
import { NumberedFilter, UnusableFilter, checkpointInterval, compileFilter } from '../rules/event-filter.js';
import type { EventLog } from '../storage/event-log.js';
import { searchInTime } from './name-search.js';

export interface CursorFilter {
  readonly on: 'stream-name' | 'event-type';
  readonly filter: NumberedFilter;
  /** Considered events between two checkpoints; undefined: none are wanted. */
  readonly checkpointInterval: number | undefined;
}

/** Throws INVALID_ARGUMENT for a filter that cannot be. */
export function filterOf(log: EventLog, request: ReadRequest): CursorFilter | undefined {
  if (request.filter === undefined) return undefined;
  const { on } = request.filter;
  const names = on === 'stream-name' ? log.streams : log.types;
  try {
    const matches = compileFilter(request.filter, searchInTime);
    const wanted = request.extent.kind === 'subscription';
    return {
      on,
      filter: new NumberedFilter(matches, (id) => names.nameOf(id)),
      checkpointInterval: wanted ? checkpointInterval(request.filter) : undefined,
    };
  } catch (error) {
    throw error instanceof UnusableFilter ? invalidArgument(error.message) : error;
  }
}
