import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { RequestElicitation } from '../../elicitations/commands/request-elicitation.js';
import { firstCodePoints } from '../../text/code-points.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { eventData } from './event-data.js';
import type { EventAnswer } from './event-intake.js';
import { McpElicitationData } from './event.dto.js';
import { promptIdRefusal } from './prompt-id.js';

const CONTENT_PREVIEW_LENGTH = 1024;

/** Members of `data` that steer the request and are no parameters of the prompt. */
const STEERING = new Set(['elicitation_id', 'response_id', 'expires_at', 'target_session_id']);

/** Event `mcp_elicitation`: a prompt that the runner will hear the answer to (`contract/sessions.md` 7.2). */
@Injectable()
export class ElicitationIntake {
  constructor(private readonly commands: CommandBus) {}

  async request(
    request: CommandRequest,
    sessionId: string,
    data: Readonly<Record<string, unknown>>,
  ): Promise<EventAnswer | Refusal> {
    const given = eventData(McpElicitationData, 'mcp_elicitation', data);
    if (given.mode === 'url' && !given.url) {
      return refuse(
        'invalid_input',
        'Invalid data payload for event type "mcp_elicitation": url: required in url mode',
      );
    }
    const elicitationId = promptId(data['elicitation_id']);
    if (isRefusal(elicitationId)) return elicitationId;
    // Something that cannot be an id names no prompt: it is passed over (`contract/sessions.md` 11.2 row 5).
    if (elicitationId === 'none') return { answer: null, body: { queued: false } };
    const prompt = {
      elicitationId: elicitationId === 'mint' ? null : elicitationId.given,
      params: paramsOf(data),
      responseId: given.response_id ?? null,
      expiresAt: given.expires_at ?? null,
    };
    const answer = await this.commands.execute(new RequestElicitation(request, sessionId, prompt));
    if (isRefusal(answer)) return answer;
    return { answer, body: { queued: false, elicitation_id: answer.result.elicitation_id } };
  }
}

function promptId(value: unknown): 'mint' | 'none' | { readonly given: string } | Refusal {
  if (value === undefined) return 'mint';
  if (typeof value !== 'string' || value === '') return 'none';
  return promptIdRefusal(value) ?? { given: value };
}

function paramsOf(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(data).filter(([key, value]) => !STEERING.has(key) && value !== null);
  const params = { mode: 'form', ...Object.fromEntries(kept) } as Record<string, unknown>;
  const preview = params['content_preview'];
  if (typeof preview === 'string')
    params['content_preview'] = firstCodePoints(preview, CONTENT_PREVIEW_LENGTH);
  return params;
}
