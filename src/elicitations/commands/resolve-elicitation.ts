import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ownerOf } from '../../auth/principal.js';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandContext, Outcome } from '../../event-store/aggregates/command-context.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { accessible } from '../../sessions/access.js';
import { SessionCommands } from '../../sessions/session-commands.js';
import { createContentCheck } from '../content-check.js';
import { decideAnsweredElsewhere, decideVerdict, type Verdict } from '../domain/decide.js';
import { PromptHolders } from '../prompt-holders.js';

/** `standing`: how the prompt had been settled before; empty when this verdict settled it, or nothing ever did. */
type Resolved = { standing: string };

/** A human's verdict, given at the session that asks or at any of its ancestors (design 13.7). */
export class ResolveElicitation extends Command<Answer<Resolved> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly verdict: Omit<Verdict, 'by'>,
  ) {
    super();
  }
}

/** Event `external_elicitation_resolved`: answered where Rollcall could not see the verdict. */
export class MarkAnsweredElsewhere extends Command<Answer<Record<string, never>> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly elicitationId: string,
  ) {
    super();
  }
}

@CommandHandler(ResolveElicitation)
export class ResolveElicitationHandler implements ICommandHandler<ResolveElicitation> {
  private readonly check = createContentCheck();

  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
    private readonly holders: PromptHolders,
  ) {}

  execute(command: ResolveElicitation): Promise<Answer<Resolved> | Refusal> {
    const { request } = command;
    return this.runner.run({ request, status: 202, carryOut: (context) => this.carryOut(context, command) });
  }

  private async carryOut(context: CommandContext, command: ResolveElicitation): Promise<Outcome<Resolved>> {
    const { request, sessionId, verdict } = command;
    const holder = await this.holderOf(command);
    if (isRefusal(holder)) return { kind: 'refused', refusal: holder };
    const by = ownerOf(request.principal);
    const outcome = await this.sessions.decide(context, {
      principal: request.principal,
      sessionId: holder ?? sessionId,
      record: () => ({ standing: '' }),
      decide: ({ prompts }) => decideVerdict(prompts, { ...verdict, by }, this.check),
    });
    if (outcome.kind !== 'done') return outcome;
    return {
      ...outcome,
      result: { standing: outcome.result.settled ? '' : (outcome.result.standing ?? '') },
    };
  }

  /**
   * The session whose prompt the verdict is for; null when nobody holds one. What is open goes before what is settled:
   * the same id may have been settled here and wait on a session below.
   */
  private async holderOf({
    request,
    sessionId,
    verdict,
  }: ResolveElicitation): Promise<string | null | Refusal> {
    const state = await this.sessions.recall(sessionId);
    const facts = accessible(request.principal, state);
    if (isRefusal(facts)) return facts;
    const id = verdict.elicitationId;
    if (state.prompts.open.has(id)) return sessionId;
    const below = await this.holders.below(facts, id);
    const open = below.filter((holder) => holder.open).map((holder) => holder.sessionId);
    if (open.length > 1) {
      return refuse('conflict', `Elicitation ${id} is open on ${open.join(' and ')}; answer it there.`);
    }
    if (open[0] !== undefined) return open[0];
    return state.prompts.settled.has(id) ? sessionId : (below[0]?.sessionId ?? null);
  }
}

@CommandHandler(MarkAnsweredElsewhere)
export class MarkAnsweredElsewhereHandler implements ICommandHandler<MarkAnsweredElsewhere> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
  ) {}

  execute({
    request,
    sessionId,
    elicitationId,
  }: MarkAnsweredElsewhere): Promise<Answer<Record<string, never>> | Refusal> {
    return this.runner.run<Record<string, never>>({
      request,
      status: 202,
      carryOut: async (context) => {
        const outcome = await this.sessions.decide(context, {
          principal: request.principal,
          sessionId,
          decide: ({ prompts }) => decideAnsweredElsewhere(prompts, elicitationId),
        });
        return outcome.kind === 'done' ? { ...outcome, result: {} } : outcome;
      },
    });
  }
}
