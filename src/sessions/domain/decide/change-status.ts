import { withdrawAll, withdrawOfResponse } from '../../../elicitations/domain/decide.js';
import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { abbreviated } from '../../../text/code-points.js';
import { cutToJsonBytes } from '../../../text/json-cut.js';
import { refuse } from '../../../refusal.js';
import type { ReportedStatus, SessionEvent, TaskError } from '../events.js';
import type { SessionFacts, SessionStreamEvent } from '../facts.js';
import { hasErrorText } from '../labels.js';
import { isBusy } from '../status.js';
import type { SessionState } from '../state.js';

export interface StatusEdge {
  readonly status: ReportedStatus;
  readonly responseId: string | null;
  readonly backgroundTaskCount: number | null;
  readonly blockedOn: string | null;
  readonly output: string | null;
  readonly reauthRequired: boolean;
}

const REAUTH_CODE = 'codex_reauth_required';
const TURN_ERROR_CODE = 'codex_turn_error';
/** Code points. The message stands in every row and label of the session; the event keeps more of the output. */
const MESSAGE_LENGTH = 8_192;
/** A status edge is never refused for what it says: its texts are cut to what one append takes (`contract/sessions.md` 1.8). */
const OUTPUT_JSON_BYTES = 512 * 1024;
/** The same beside prompts that are withdrawn in the same append, and for the message. */
const SHORT_JSON_BYTES = 36 * 1024;
const CUT_NOTICE = '\n[output truncated by omnigent: it did not fit]';

/**
 * `contract/sessions.md` 6.8 and 6.10: `waiting` with background work left is `idle`; `failed` stands until `running`;
 * an edge that says nothing new is not recorded again.
 */
export function decideStatus(state: SessionState, edge: StatusEdge): Decision<SessionStreamEvent, null> {
  const facts = state.facts;
  if (!facts) return refuse('not_found', 'Session not found');
  const status = collapsed(edge);
  const withdrawals = withdrawalsOf(state, edge, status);
  if (isPassedOver(facts, status)) return { events: withdrawals, result: null };
  const changed: SessionEvent = {
    type: 'SessionStatusChanged',
    data: {
      status,
      reported: edge.status,
      response_id: edge.responseId,
      background_task_count: edge.backgroundTaskCount,
      blocked_on: edge.blockedOn,
      output: edge.output === null ? null : cutOutput(edge.output, withdrawals.length > 0),
      error: status === 'failed' ? errorOf(edge) : null,
    },
  };
  if (withdrawals.length === 0 && saysNothingNew(facts, changed.data)) return { events: [], result: null };
  return { events: [...withdrawals, changed], result: null };
}

/** A failure stands until the next turn, and in a closed session no turn begins. */
function isPassedOver(facts: SessionFacts, status: ReportedStatus): boolean {
  return (facts.status === 'failed' && status === 'idle') || (facts.closed !== null && isBusy(status));
}

function cutOutput(output: string, besideWithdrawals: boolean): string {
  const kept = cutToJsonBytes(output, besideWithdrawals ? SHORT_JSON_BYTES : OUTPUT_JSON_BYTES);
  return kept.length === output.length ? output : kept + CUT_NOTICE;
}

function collapsed(edge: StatusEdge): ReportedStatus {
  return edge.status === 'waiting' && (edge.backgroundTaskCount ?? 0) > 0 ? 'idle' : edge.status;
}

function errorOf(edge: StatusEdge): TaskError | null {
  if (edge.output === null || edge.output.trim() === '') return null;
  const code = edge.reauthRequired ? REAUTH_CODE : TURN_ERROR_CODE;
  return { code, message: cutToJsonBytes(abbreviated(edge.output, MESSAGE_LENGTH), SHORT_JSON_BYTES) };
}

/** An idle that a collapsed `waiting` became never withdraws: the turn may still be waiting for its human (13.9). */
function withdrawalsOf(
  state: SessionState,
  edge: StatusEdge,
  status: ReportedStatus,
): readonly SessionStreamEvent[] {
  if (status === 'failed') return withdrawAll(state.prompts, 'failed');
  if (edge.status === 'idle' && edge.responseId !== null)
    return withdrawOfResponse(state.prompts, edge.responseId);
  return [];
}

type StatusChange = Extract<SessionEvent, { type: 'SessionStatusChanged' }>['data'];

function saysNothingNew(facts: SessionFacts, change: StatusChange): boolean {
  if (change.status !== facts.status || change.error !== null || change.output !== null) return false;
  // A client may have written an error into the labels of a running session: running clears it.
  if (change.status === 'running' && (facts.lastTaskError !== null || hasErrorText(facts.labels)))
    return false;
  const sameTurn = change.response_id === null || change.response_id === facts.activeResponseId;
  const sameCount =
    (change.background_task_count ?? facts.backgroundTaskCount ?? 0) === (facts.backgroundTaskCount ?? 0);
  const active = change.status === 'running' || change.status === 'waiting';
  return sameCount && change.blocked_on === null && (sameTurn || !active);
}
