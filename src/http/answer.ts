import type { Answer } from '../command-handling/command-runner.js';
import type { CommandRequest } from '../command-handling/command-request.js';
import { isRefusal, type Refusal } from '../refusal.js';
import { ApiError } from './errors.js';
import { type HeaderSink, setReplyHeaders } from './reply-headers.js';

/** What was asked for, or the refusal as the error that the edge answers with. */
export function granted<T>(outcome: T | Refusal): T {
  if (isRefusal(outcome)) throw ApiError.fromRefusal(outcome);
  return outcome;
}

/** A command's answer with its headers set; throws for a refusal. */
export function accepted<Result>(
  reply: HeaderSink,
  request: CommandRequest,
  outcome: Answer<Result> | Refusal,
): Answer<Result> {
  const answer = granted(outcome);
  setReplyHeaders(reply, {
    position: answer.position,
    projected: answer.projected,
    idempotencyReplayed: answer.replayed,
    respondedAsync: !request.waits,
  });
  return answer;
}
