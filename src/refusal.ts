/**
 * The closed list of reasons for which Rollcall says no (contract/sessions.md 1.5 and the additions of the API).
 * A refusal is a plain value: the domain returns it, the HTTP edge alone turns it into a status.
 *
 * `unprocessable` and `forward_failed` never appear on the wire as codes: their answers are `{"detail": …}`.
 */
export type RefusalCode =
  | 'invalid_input'
  | 'wrong_replica'
  | 'unauthorized'
  | 'forbidden'
  | 'not_owner'
  | 'not_found'
  | 'conflict'
  | 'already_exists'
  | 'already_claimed'
  | 'claim_lost'
  | 'lease_lost'
  | 'idempotency_mismatch'
  | 'idempotency_in_progress'
  | 'workspace_missing'
  | 'gone'
  | 'harness_not_configured'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unprocessable'
  | 'capacity_reached'
  | 'rate_limited'
  | 'internal_error'
  | 'harness_protocol_violation'
  | 'forward_failed'
  | 'runner_unavailable'
  | 'runner_capability_mismatch'
  | 'read_model_behind'
  | 'log_unavailable'
  | 'database_unavailable'
  | 'stream_parked';

export interface Refusal {
  readonly refused: true;
  readonly code: RefusalCode;
  readonly message: string;
  /**
   * Further members of the answer's body, beside `error` (e.g. `{ status: 'rejected' }`).
   * For `unprocessable`: `{ loc, type, input }` of the one detail entry.
   */
  readonly details?: Readonly<Record<string, unknown>>;
}

export function refuse(code: RefusalCode, message: string, details?: Record<string, unknown>): Refusal {
  return details === undefined ? { refused: true, code, message } : { refused: true, code, message, details };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value && value.refused === true;
}
