import { invalidArgument } from '../protocol/grpc-error.js';
import type { AllPosition } from '../protocol/read-request.js';
import type { EventLog } from '../storage/event-log.js';

/**
 * The offset that a client's `$all` position stands for. Positions are opaque: one that is neither a record's
 * place, nor the start, nor behind the end was not given out by this log.
 */
export function checkedPosition(log: EventLog, { commit, prepare }: AllPosition): bigint {
  const beyond = commit >= log.head;
  const plausible = commit < 2n ** 63n && prepare <= commit;
  if (!plausible || (!beyond && commit !== 0n && log.records.at(commit) === undefined)) {
    throw invalidArgument('Trying to read from an invalid position.');
  }
  return commit;
}
