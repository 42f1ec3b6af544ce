import { formatPosition } from '../event-store/position.js';
import type { Position } from '../event-store/position.js';

export const PARKED_HEADER = 'rollcall-parked';

/** The part of a Fastify reply that this file needs. */
export interface HeaderSink {
  header(name: string, value: string): unknown;
}

export interface ReplyFacts {
  /** A write: the last event appended. A read: the checkpoint of the snapshot it was read in. */
  readonly position?: Position;
  /** Only `false` is ever said: the read models did not show the write in time. */
  readonly projected?: boolean;
  readonly idempotencyReplayed?: boolean;
  /** The answer did not wait, because the client preferred so. */
  readonly respondedAsync?: boolean;
  /** The last event on the resource's own stream. */
  readonly etag?: Position;
  readonly noStore?: boolean;
}

export function setReplyHeaders(reply: HeaderSink, facts: ReplyFacts): void {
  if (facts.position !== undefined) reply.header('rollcall-position', formatPosition(facts.position));
  if (facts.projected === false) reply.header('rollcall-projected', 'false');
  if (facts.idempotencyReplayed === true) reply.header('idempotency-replayed', 'true');
  if (facts.respondedAsync === true) reply.header('preference-applied', 'respond-async');
  if (facts.etag !== undefined) reply.header('etag', `"${formatPosition(facts.etag)}"`);
  if (facts.noStore === true) reply.header('cache-control', 'no-store');
}
