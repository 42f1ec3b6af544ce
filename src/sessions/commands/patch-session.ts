import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandContext, Outcome } from '../../event-store/aggregates/command-context.js';
import type { Position } from '../../event-store/position.js';
import { parseId } from '../../ids.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { accessible } from '../access.js';
import { decideClose } from '../domain/decide/close.js';
import { decidePatch, decideRenameChild, holdsName, type SessionPatch } from '../domain/decide/rename.js';
import type { SessionFacts } from '../domain/facts.js';
import { reservedKey, toStoredLabels } from '../domain/labels.js';
import { withoutTombstone } from '../domain/title.js';
import type { SessionState } from '../domain/state.js';
import { latest, outdatedVersion, SessionCommands, versionRefusal } from '../session-commands.js';
import { claimName } from './name-claim.js';
import { releaseName } from './release-name.js';

type Patched = { session_id: string };

/** `PATCH /v1/sessions/{id}`: title and labels. */
export class PatchSession extends Command<Answer<Patched> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly patch: SessionPatch,
    readonly ifMatch: Position | '*' | null,
  ) {
    super();
  }
}

@CommandHandler(PatchSession)
export class PatchSessionHandler implements ICommandHandler<PatchSession> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
  ) {}

  async execute(command: PatchSession): Promise<Answer<Patched> | Refusal> {
    const { request, sessionId } = command;
    const labels = command.patch.labels === undefined ? undefined : toStoredLabels(command.patch.labels);
    const reserved = reservedKey(command.patch.labels ?? {});
    if (reserved !== null) return refuse('invalid_input', `Label "${reserved}" is reserved.`);
    const { title } = command.patch;
    const facts = accessible(request.principal, await this.current(sessionId, title));
    if (isRefusal(facts)) return facts;
    const closing =
      typeof title === 'string'
        ? withoutTombstone(title, (text) => parseId('session', text) === sessionId)
        : null;
    const shown = closing ?? title;
    const patch: SessionPatch = {
      ...(shown === undefined ? {} : { title: shown }),
      ...(labels ? { labels } : {}),
    };
    return this.runner.run({
      request,
      status: 200,
      carryOut: (context) => this.carryOut(context, command, facts, patch, closing !== null),
    });
  }

  private async carryOut(
    context: CommandContext,
    { request, sessionId, ifMatch }: PatchSession,
    facts: SessionFacts,
    patch: SessionPatch,
    closes: boolean,
  ): Promise<Outcome<Patched>> {
    const renamed = closes ? null : await this.claim(context, request, facts, patch.title, ifMatch);
    if (renamed && renamed.kind !== 'done') return renamed;
    const patched = await this.sessions.decide(context, {
      principal: request.principal,
      sessionId,
      // A name that was claimed is no longer refused: the version was checked with the claim.
      ifMatch: renamed ? null : ifMatch,
      record: () => ({ session_id: sessionId }),
      decide: (state) => {
        const change = decidePatch(state, patch);
        const close = closes ? decideClose(state, { reason: 'done', successorId: null }) : null;
        if (isRefusal(change) || close === null) return change;
        return isRefusal(close) ? close : { events: [...change.events, ...close.events], result: null };
      },
    });
    if (patched.kind !== 'done') return patched;
    const released = closes ? await releaseName(this.sessions, context, facts) : null;
    return {
      ...patched,
      result: { session_id: sessionId },
      position: latest(patched.position, renamed?.position ?? null, released),
    };
  }

  /** Whether a name must be claimed is only known from the present title: another node may have changed it. */
  private current(sessionId: string, title: string | null | undefined): Promise<SessionState> {
    return title === undefined ? this.sessions.recall(sessionId) : this.sessions.read(sessionId);
  }

  /**
   * An open child takes its new name under the parent first, so that no two open siblings share one. The claim decides
   * the rename, so a version that the client states is checked here: against the child, and that its name under the
   * parent is still the one of that version.
   */
  private async claim(
    context: CommandContext,
    { principal }: CommandRequest,
    facts: SessionFacts,
    title: string | null | undefined,
    ifMatch: Position | '*' | null,
  ): Promise<Outcome<null> | null> {
    const { parentId } = facts;
    if (parentId === null || title === undefined || facts.closed !== null || title === facts.title)
      return null;
    const outdated = outdatedVersion(facts, ifMatch);
    if (outdated) return { kind: 'refused', refusal: outdated };
    const versioned = ifMatch !== null && ifMatch !== '*';
    return claimName<null>(
      title,
      (released) =>
        this.sessions.decide(
          { ...context, keys: [] },
          {
            principal,
            sessionId: parentId,
            decide: (parent) =>
              versioned && !holdsName(parent, facts.id, facts.title)
                ? versionRefusal()
                : decideRenameChild(parent, facts.id, title, released),
          },
        ),
      (childId) => this.sessions.read(childId),
    );
  }
}
