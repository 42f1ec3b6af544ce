import { newUuid } from '../uuid.js';
import { encodeEvent } from './encode.js';
import type { EventLog } from './event-log.js';
import type { EventRegistry } from './event-registry.js';
import type { LogEvent } from './log-events.js';
import type { StreamNames } from './stream-names.js';
import type { Clock } from '../clock/clock.js';

/** The id of this log: that of its first `LogCreated`, written now if there is none. Throws `LogUnavailable`. */
export async function logIdentity(
  log: EventLog,
  registry: EventRegistry,
  names: StreamNames,
  clock: Clock,
): Promise<string> {
  const standing = await knownLogIdentity(log, registry, names);
  if (standing !== null) return standing;
  const id = newUuid();
  const created: LogEvent = { type: 'LogCreated', data: { log_id: id } };
  const event = encodeEvent(registry, created, {
    id,
    correlationId: id,
    causationId: id,
    actor: 'system:start',
    occurredAt: clock.now(),
    lineage: null,
    command: null,
  });
  const outcome = await log.append(names.log(), [event], 'no-stream');
  if (outcome.outcome === 'appended') return id;
  const other = await knownLogIdentity(log, registry, names);
  if (other === null) throw new Error(`stream ${names.log()} exists and holds no LogCreated`);
  return other;
}

/** As `logIdentity`, but writes nothing: null for a log without a `LogCreated`. */
export async function knownLogIdentity(
  log: EventLog,
  registry: EventRegistry,
  names: StreamNames,
): Promise<string | null> {
  for await (const raw of log.read(names.log(), { limit: 1 })) {
    const { event } = registry.decode(raw);
    return event.type === 'LogCreated' ? (event as LogEvent).data.log_id : null;
  }
  return null;
}
