import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Principal } from '../../auth/principal.js';
import type { Position } from '../../event-store/position.js';
import { ReadModels } from '../../read-models/read-models.js';
import { isRefusal, type Refusal } from '../../refusal.js';
import { accessible } from '../../sessions/access.js';
import type { SessionFacts } from '../../sessions/domain/facts.js';
import type { SessionState } from '../../sessions/domain/state.js';
import { SessionCommands } from '../../sessions/session-commands.js';
import { toSafeText } from '../../text/well-formed.js';
import type { PromptParams } from '../domain/prompt-book.js';
import { PromptHolders } from '../prompt-holders.js';

/** `contract/sessions.md` 7.3: exactly these fields, and `status` alone for anything that is not open. */
export type ElicitationView =
  | { readonly status: 'resolved' }
  | {
      readonly status: 'pending';
      readonly message: string;
      readonly phase: string;
      readonly policy_name: string;
      readonly content_preview: string;
    };

export interface ElicitationFound {
  readonly view: ElicitationView;
  readonly position: Position;
}

/** `GET /v1/sessions/{id}/elicitations/{E}`: a prompt of the session itself or of one below it. */
export class GetElicitation extends Query<ElicitationFound | Refusal> {
  constructor(
    readonly principal: Principal,
    readonly sessionId: string,
    readonly elicitationId: string,
  ) {
    super();
  }
}

const DEFAULT_MESSAGE = 'Approval required';

/** The streams decide, so that a prompt just requested is never said to be resolved (design 13.7). */
@QueryHandler(GetElicitation)
export class GetElicitationHandler implements IQueryHandler<GetElicitation> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly sessions: SessionCommands,
    private readonly holders: PromptHolders,
  ) {}

  async execute({
    principal,
    sessionId,
    elicitationId,
  }: GetElicitation): Promise<ElicitationFound | Refusal> {
    const { checkpoint } = this.readModels;
    const own = await this.sessions.read(sessionId);
    const facts = accessible(principal, own);
    if (isRefusal(facts)) return facts;
    const found = openPrompt(own, elicitationId) ?? (await this.openBelow(facts, elicitationId));
    if (!found) return { view: { status: 'resolved' }, position: later(checkpoint, facts.position) };
    return { view: viewOf(found.params), position: later(checkpoint, found.position) };
  }

  private async openBelow(session: SessionFacts, elicitationId: string): Promise<FoundPrompt | null> {
    for (const { sessionId, open } of await this.holders.below(session, elicitationId)) {
      if (!open) continue;
      const found = openPrompt(await this.sessions.read(sessionId), elicitationId);
      if (found) return found;
    }
    return null;
  }
}

interface FoundPrompt {
  readonly params: PromptParams;
  readonly position: Position;
}

function openPrompt({ facts, prompts }: SessionState, elicitationId: string): FoundPrompt | null {
  const prompt = prompts.open.get(elicitationId);
  return facts && prompt ? { params: prompt.params, position: facts.position } : null;
}

function later(one: Position, other: Position): Position {
  return one > other ? one : other;
}

function viewOf(params: PromptParams): ElicitationView {
  return {
    status: 'pending',
    message: textOr(params['message'], DEFAULT_MESSAGE),
    phase: textOr(params['phase'], ''),
    policy_name: textOr(params['policy_name'], ''),
    content_preview: textOr(params['content_preview'], ''),
  };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? toSafeText(value) : otherwise;
}
