import { createHash } from 'node:crypto';
import { v5 } from 'uuid';
import type { Principal } from '../auth/principal.js';
import type { CommandKey } from '../event-store/recorded-event.js';
import { ID_PREFIX, type IdKind } from '../ids.js';
import { newUuid } from '../uuid.js';

/** Namespace of the ids of things that are created under an idempotency key. */
const ID_NAMESPACE = '0f0b7f1c-3d0a-4f6c-8d5e-52f6a8f1c7aa';

/** Who commands, in which request, and whether the answer waits for the read models. */
export interface CommandRequest {
  readonly principal: Principal;
  readonly requestId: string;
  /** The request's Idempotency-Key in its scope; null without one. */
  readonly idempotency: CommandKey | null;
  /** False after `Prefer: respond-async`. */
  readonly waits: boolean;
}

/** SHA-256 over parts that cannot run into each other. */
export function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** A retry of the same keyed request mints the same id, so that the log refuses the twin (design 3). */
export function mintId(kind: IdKind, request: CommandRequest): string {
  return `${ID_PREFIX[kind]}_${hex(request.idempotency ? v5(request.idempotency.key, ID_NAMESPACE) : newUuid())}`;
}

/** An id that follows from a natural key, e.g. the id that a forwarder gave to an item. */
export function derivedId(kind: IdKind, ...parts: readonly string[]): string {
  return `${ID_PREFIX[kind]}_${hex(v5(digest(...parts), ID_NAMESPACE))}`;
}

export function mintResponseId(): string {
  return `resp_${hex(newUuid())}`;
}

function hex(uuid: string): string {
  return uuid.replaceAll('-', '');
}
