import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import type { Answer } from '../../command-handling/command-runner.js';
import {
  MarkAnsweredElsewhere,
  ResolveElicitation,
} from '../../elicitations/commands/resolve-elicitation.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { AppendItem } from '../commands/append-item.js';
import { ChangeStatus } from '../commands/change-status.js';
import { InterruptSession } from '../commands/interrupt-session.js';
import { SendMessage } from '../commands/send-message.js';
import type { InterruptRequest } from '../domain/events.js';
import { ITEM_TYPES, toItemPayload } from '../domain/item-payload.js';
import { ElicitationIntake } from './elicitation-intake.js';
import { eventData, strictEventData } from './event-data.js';
import {
  ApprovalData,
  AssistantMessageData,
  ConversationItemData,
  ElicitationResolvedData,
  MessageData,
  SessionStatusData,
} from './event.dto.js';
import { promptIdRefusal } from './prompt-id.js';

type Data = Readonly<Record<string, unknown>>;

export interface EventAnswer {
  readonly answer: Answer<unknown> | null;
  readonly body: object;
  /** How the prompt of a verdict had been settled before; absent otherwise. */
  readonly resolution?: string;
}

type Intake = (request: CommandRequest, sessionId: string, data: Data) => Promise<EventAnswer | Refusal>;

const ITEM_ID_LENGTH = 255;

/** What each event type of `POST /v1/sessions/{id}/events` comes to (`contract/sessions.md` 6.2, 6.3). */
@Injectable()
export class EventIntake {
  private readonly intakes: ReadonlyMap<string, Intake>;

  constructor(
    private readonly commands: CommandBus,
    elicitations: ElicitationIntake,
  ) {
    this.intakes = new Map<string, Intake>([
      ['external_conversation_item', (...given) => this.conversationItem(...given)],
      ['external_assistant_message', (...given) => this.assistantMessage(...given)],
      ['external_session_status', (...given) => this.status(...given)],
      ['mcp_elicitation', (...given) => elicitations.request(...given)],
      ['approval', (...given) => this.approval(...given)],
      ['external_elicitation_resolved', (...given) => this.answeredElsewhere(...given)],
      ['message', (...given) => this.message(...given)],
      ['interrupt', (request, sessionId) => this.interrupt(request, sessionId, 'interrupt')],
      ['stop_session', (request, sessionId) => this.interrupt(request, sessionId, 'stop')],
    ]);
  }

  async take(
    request: CommandRequest,
    sessionId: string,
    type: string,
    data: Data,
  ): Promise<EventAnswer | Refusal> {
    const intake = this.intakes.get(type);
    if (intake) return intake(request, sessionId, data);
    const allowed = [...this.intakes.keys()].join(', ');
    return refuse('invalid_input', `Unsupported event type "${type.slice(0, 100)}"; allowed: ${allowed}`);
  }

  private async conversationItem(
    request: CommandRequest,
    sessionId: string,
    data: Data,
  ): Promise<EventAnswer | Refusal> {
    const given = eventData(ConversationItemData, 'external_conversation_item', data);
    if (!ITEM_TYPES.includes(given.item_type)) {
      return refuse(
        'invalid_input',
        `Invalid data payload for event type "external_conversation_item": item_type: one of ${ITEM_TYPES.join(', ')}`,
      );
    }
    const payload = toItemPayload(given.item_type, given.item_data);
    if (isRefusal(payload)) return payload;
    const naturalId = naturalIdOf(given.item_data);
    if (isRefusal(naturalId)) return naturalId;
    return this.append(request, sessionId, {
      type: given.item_type,
      payload,
      responseId: given.response_id ?? null,
      naturalId,
    });
  }

  private async assistantMessage(
    request: CommandRequest,
    sessionId: string,
    data: Data,
  ): Promise<EventAnswer | Refusal> {
    const { agent, text, response_id } = eventData(AssistantMessageData, 'external_assistant_message', data);
    const payload = { role: 'assistant', content: [{ type: 'output_text', text }], model: agent };
    return this.append(request, sessionId, {
      type: 'message',
      payload,
      responseId: response_id ?? null,
      naturalId: null,
    });
  }

  private async append(
    request: CommandRequest,
    sessionId: string,
    item: AppendItem['item'],
  ): Promise<EventAnswer | Refusal> {
    const answer = await this.commands.execute(new AppendItem(request, sessionId, item));
    return isRefusal(answer) ? answer : { answer, body: { queued: false, item_id: answer.result.item_id } };
  }

  private async status(
    request: CommandRequest,
    sessionId: string,
    data: Data,
  ): Promise<EventAnswer | Refusal> {
    const given = eventData(SessionStatusData, 'external_session_status', data);
    const edge = {
      status: given.status,
      responseId: given.response_id ?? null,
      backgroundTaskCount: given.background_task_count ?? null,
      blockedOn: given.blocked_on ?? null,
      output: given.output ?? null,
      reauthRequired: given.reauth_required ?? false,
    };
    return unqueued(await this.commands.execute(new ChangeStatus(request, sessionId, edge)));
  }

  private async approval(
    request: CommandRequest,
    sessionId: string,
    data: Data,
  ): Promise<EventAnswer | Refusal> {
    const { elicitation_id: elicitationId, action, content } = strictEventData(ApprovalData, data);
    const verdict = { elicitationId, action, content: content ?? null, via: 'event' as const };
    const answer = await this.commands.execute(new ResolveElicitation(request, sessionId, verdict));
    if (isRefusal(answer)) return answer;
    return { answer, body: { queued: false }, resolution: answer.result.standing };
  }

  private async answeredElsewhere(
    request: CommandRequest,
    sessionId: string,
    data: Data,
  ): Promise<EventAnswer | Refusal> {
    const { elicitation_id } = eventData(ElicitationResolvedData, 'external_elicitation_resolved', data);
    const refusal = promptIdRefusal(elicitation_id);
    if (refusal) return refusal;
    return unqueued(
      await this.commands.execute(new MarkAnsweredElsewhere(request, sessionId, elicitation_id)),
    );
  }

  private async message(
    request: CommandRequest,
    sessionId: string,
    data: Data,
  ): Promise<EventAnswer | Refusal> {
    const { role } = eventData(MessageData, 'message', data);
    const payload = toItemPayload('message', data);
    return isRefusal(payload) ? payload : this.commands.execute(new SendMessage(request, sessionId, role));
  }

  /** Their data says nothing: `contract/sessions.md` 6.11. */
  private async interrupt(
    request: CommandRequest,
    sessionId: string,
    requested: InterruptRequest,
  ): Promise<EventAnswer | Refusal> {
    const answer = await this.commands.execute(new InterruptSession(request, sessionId, requested));
    if (isRefusal(answer)) return answer;
    return { answer, body: { queued: false, ...(answer.running ? { cascade: 'running' } : {}) } };
  }
}

function unqueued(answer: Answer<unknown> | Refusal): EventAnswer | Refusal {
  return isRefusal(answer) ? answer : { answer, body: { queued: false } };
}

function naturalIdOf(data: Data): string | null | Refusal {
  const { id } = data;
  if (id === undefined || id === null) return null;
  if (
    typeof id === 'string' &&
    id !== '' &&
    id.length <= ITEM_ID_LENGTH &&
    id.isWellFormed() &&
    !id.includes('\0')
  )
    return id;
  return refuse('unprocessable', 'An item id is a text of 1 to 255 characters.', {
    type: 'value_error',
    loc: ['body', 'data', 'item_data', 'id'],
    input: id,
  });
}
