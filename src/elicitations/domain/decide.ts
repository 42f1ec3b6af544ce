import { isDeepStrictEqual } from 'node:util';
import { refuse, type Refusal } from '../../refusal.js';
import type { ElicitationAction, ElicitationEvent, WithdrawalReason } from './events.js';
import type { PromptBook, PromptParams, SettledState } from './prompt-book.js';
import { schemaProblem } from './requested-schema.js';

/**
 * Open prompts of one session. Whatever ends a session withdraws them all in its own append, and that must fit: about
 * 2.5 KB each at the greatest depth of a tree, 5.2 KB when the prompt's id and the actor's name are as long as can be.
 */
export const MAX_OPEN_PROMPTS = 160;

export interface PromptRequest {
  readonly elicitationId: string;
  readonly params: PromptParams;
  readonly responseId: string | null;
  readonly expiresAt: number | null;
}

export interface Verdict {
  readonly elicitationId: string;
  readonly action: ElicitationAction;
  readonly content: Readonly<Record<string, unknown>> | null;
  readonly by: string | null;
  readonly via: 'resolve' | 'event';
}

/** Why `content` does not fit the prompt's `requestedSchema`, at which property; null when it fits. */
export type ContentCheck = (
  schema: unknown,
  content: Readonly<Record<string, unknown>>,
) => ContentProblem | null;

export interface ContentProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** What a verdict met: it settled the prompt, or something (perhaps nothing) had settled it before. */
export type VerdictOutcome =
  { readonly settled: true } | { readonly settled: false; readonly standing: SettledState | null };

export interface PromptDecision<Result> {
  readonly events: readonly ElicitationEvent[];
  readonly result: Result;
}

/**
 * The same id again: open, the payload is replaced; answered, the repeat is ignored; withdrawn or expired, 409
 * (`api.md` 3). A schema that is too large to be checked is refused.
 */
export function decideRequest(
  book: PromptBook,
  request: PromptRequest,
): Refusal | PromptDecision<{ elicitation_id: string }> {
  const problem = schemaProblem(request.params['requestedSchema']);
  if (problem) return refuse('invalid_input', problem);
  const id = request.elicitationId;
  const result = { elicitation_id: id };
  const settled = book.settled.get(id);
  if (settled === 'withdrawn' || settled === 'expired') {
    return refuse('conflict', `Elicitation ${id} was ${settled}; ask again under a new id.`);
  }
  const open = book.open.get(id);
  if (settled !== undefined || (open && isDeepStrictEqual(open.params, request.params)))
    return { events: [], result };
  if (!open && book.open.size >= MAX_OPEN_PROMPTS) {
    return refuse(
      'capacity_reached',
      `capacity reached: a session holds at most ${MAX_OPEN_PROMPTS} open prompts; ask again when some are settled.`,
    );
  }
  const requested: ElicitationEvent = {
    type: 'ElicitationRequested',
    data: {
      elicitation_id: id,
      params: request.params,
      response_id: request.responseId,
      expires_at: request.expiresAt,
    },
  };
  return { events: [requested], result };
}

/** The first verdict wins. A later one, or one for an unknown id, changes nothing and is no error (design 13.7). */
export function decideVerdict(
  book: PromptBook,
  verdict: Verdict,
  check: ContentCheck,
): Refusal | PromptDecision<VerdictOutcome> {
  const open = book.open.get(verdict.elicitationId);
  if (!open) {
    return {
      events: [],
      result: { settled: false, standing: book.settled.get(verdict.elicitationId) ?? null },
    };
  }
  const content = verdict.action === 'accept' ? verdict.content : null;
  const schema = open.params['requestedSchema'];
  const problem = verdict.action === 'accept' && isObject(schema) ? check(schema, content ?? {}) : null;
  if (problem) {
    return refuse('unprocessable', problem.message, {
      type: 'value_error',
      loc: ['body', 'content', ...problem.path],
      input: content,
    });
  }
  const resolved: ElicitationEvent = {
    type: 'ElicitationResolved',
    data: {
      elicitation_id: verdict.elicitationId,
      action: verdict.action,
      content,
      by: verdict.by,
      via: verdict.via,
    },
  };
  return { events: [resolved], result: { settled: true } };
}

/** `external_elicitation_resolved`: it was answered where Rollcall could not see the verdict. */
export function decideAnsweredElsewhere(book: PromptBook, id: string): PromptDecision<null> {
  return { events: book.open.has(id) ? [withdrawn(id, 'answered_elsewhere')] : [], result: null };
}

/** What ends with the fact that causes it, in the same append (design 13.9). */
export function withdrawAll(book: PromptBook, reason: WithdrawalReason): readonly ElicitationEvent[] {
  return [...book.open.keys()].map((id) => withdrawn(id, reason));
}

export function withdrawOfResponse(book: PromptBook, responseId: string): readonly ElicitationEvent[] {
  return [...book.open.entries()]
    .filter(([, prompt]) => prompt.responseId === responseId)
    .map(([id]) => withdrawn(id, 'idle'));
}

/** A prompt that nobody can see any more, because its session is closed, ends as it begins. */
export function withdrawnAtOnce(events: readonly ElicitationEvent[]): readonly ElicitationEvent[] {
  return events.flatMap((event) => [event, withdrawn(event.data.elicitation_id, 'closed')]);
}

function withdrawn(id: string, reason: WithdrawalReason): ElicitationEvent {
  return { type: 'ElicitationWithdrawn', data: { elicitation_id: id, reason } };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
