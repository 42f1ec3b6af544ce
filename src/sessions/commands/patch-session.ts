import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandContext, Outcome } from '../../event-store/aggregates/command-context.js';
import type { Position } from '../../event-store/position.js';
import { parseId } from '../../ids.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { accessible } from '../access.js';
import { decideClose } from '../domain/decide/close.js';
import {
  decidePatch,
  decideRenameChild,
  type NameGranted,
  type SessionPatch,
} from '../domain/decide/rename.js';
import type { SessionFacts } from '../domain/facts.js';
import { reservedKey, toStoredLabels } from '../domain/labels.js';
import { withoutTombstone } from '../domain/title.js';
import { latest, outdated, SessionCommands, versionRefusal } from '../session-commands.js';
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
    const facts = accessible(request.principal, await this.sessions.read(sessionId));
    if (isRefusal(facts)) return facts;
    const { title } = command.patch;
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
    command: PatchSession,
    facts: SessionFacts,
    patch: SessionPatch,
    closes: boolean,
  ): Promise<Outcome<Patched>> {
    const { request, sessionId, ifMatch } = command;
    const before = await this.knownBefore(context, command);
    if (before.kind !== 'done') return before;
    // Only now: a repeat of what was carried out finds its own version outdated.
    const mismatch = versionRefusal(facts, ifMatch);
    if (mismatch) return { kind: 'refused', refusal: mismatch };
    const granted = closes ? null : await this.claim(context, command, facts, patch.title);
    if (granted && granted.kind !== 'done') return granted;
    const sequence = granted?.result.sequence ?? null;
    const patched = await this.sessions.decide(context, {
      principal: request.principal,
      sessionId,
      // What the parent has granted will be carried out: from there on it is too late for the precondition to fail.
      ifMatch: sequence === null ? ifMatch : null,
      record: () => ({ session_id: sessionId }),
      decide: (state) => {
        const change = decidePatch(state, { ...patch, sequence });
        const close = closes ? decideClose(state, { reason: 'done', successorId: null }) : null;
        if (isRefusal(change) || close === null) return change;
        return isRefusal(close) ? close : { events: [...change.events, ...close.events], result: null };
      },
    });
    if (patched.kind === 'refused' && granted && isCarriedOutLater(patched.refusal, patch)) {
      return { ...granted, result: { session_id: sessionId } };
    }
    if (patched.kind !== 'done') return patched;
    const released = closes ? await releaseName(this.sessions, context, facts) : null;
    return {
      ...patched,
      result: { session_id: sessionId },
      position: latest(patched.position, granted?.position ?? null, released),
    };
  }

  /** The keys lie on the session's own stream, and a repeat must not claim a name on the parent's before they are seen. */
  private knownBefore(context: CommandContext, { request, sessionId }: PatchSession): Promise<Outcome<null>> {
    if (context.keys.length === 0) return Promise.resolve({ kind: 'done', result: null, position: null });
    return this.sessions.decide(context, {
      principal: request.principal,
      sessionId,
      decide: () => ({ events: [], result: null }),
    });
  }

  /** An open child takes its new name under the parent first, so that no two open siblings share one. */
  private async claim(
    context: CommandContext,
    { request, ifMatch }: PatchSession,
    facts: SessionFacts,
    title: string | null | undefined,
  ): Promise<Outcome<NameGranted> | null> {
    const { id, parentId, renames } = facts;
    if (parentId === null || title === undefined || facts.closed !== null || title === facts.title)
      return null;
    const isVersioned = ifMatch !== null && ifMatch !== '*';
    return claimName<NameGranted>(
      title,
      (released) =>
        this.sessions.decide(
          { ...context, keys: [] },
          {
            principal: request.principal,
            sessionId: parentId,
            decide: (parent) => {
              // Of two that state the same version, the parent grants one.
              const standing = parent.children.byChild.get(id);
              if (isVersioned && standing && standing.renames !== renames) return outdated();
              return decideRenameChild(parent, id, title, released);
            },
          },
        ),
      (childId) => this.sessions.readEvenDeleted(childId),
    );
  }
}

/** What the parent has granted is durable: with the log away in between, the reactor gives the child its title. */
function isCarriedOutLater({ code }: Refusal, patch: SessionPatch): boolean {
  return code === 'log_unavailable' && patch.labels === undefined;
}
