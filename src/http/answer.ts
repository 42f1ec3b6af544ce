import type { Answer } from '../command-handling/command-runner.js';
import type { CommandRequest } from '../command-handling/command-request.js';
import type { Refusal } from '../refusal.js';
import { orThrow } from './errors.js';
import { type HeaderSink, setReplyHeaders } from './reply-headers.js';

/** A command's answer with its headers set; throws for a refusal. */
export function accepted<Result>(
  reply: HeaderSink,
  request: CommandRequest,
  outcome: Answer<Result> | Refusal,
): Answer<Result> {
  const answer = orThrow(outcome);
  setReplyHeaders(reply, {
    position: answer.position,
    projected: answer.projected,
    idempotencyReplayed: answer.replayed,
    respondedAsync: !request.waits,
  });
  return answer;
}
