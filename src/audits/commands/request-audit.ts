import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import pLimit from 'p-limit';
import { projectionSet } from '../../../projections/projection-set.js';
import { principalKey } from '../../auth/principal.js';
import { type CommandRequest, mintId } from '../../command-handling/command-request.js';
import { UnreadableEvent } from '../../event-store/event-registry.js';
import { auditedProjections, type AuditRequest } from '../../projection-engine/audit/audit.js';
import { refuse, type Refusal } from '../../refusal.js';
import { sessionNotFound } from '../../sessions/access.js';
import { SessionCommands } from '../../sessions/session-commands.js';
import { AuditLauncher } from '../audit-launcher.js';
import { type AuditOrder, AuditRegister, type AuditState } from '../audit-register.js';

export interface RequestedAudit {
  readonly id: string;
  readonly state: AuditState;
  /** The same request again, by its Idempotency-Key. */
  readonly replayed: boolean;
}

/** `POST /v1/audits` (`api.md` 6). */
export class RequestAudit extends Command<RequestedAudit | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly wanted: AuditRequest,
  ) {
    super();
  }
}

@CommandHandler(RequestAudit)
export class RequestAuditHandler implements ICommandHandler<RequestAudit> {
  /** What is asked of the launcher must hold yet when the register has begun. */
  private readonly inTurn = pLimit(1);

  constructor(
    private readonly register: AuditRegister,
    private readonly launcher: AuditLauncher,
    private readonly sessions: SessionCommands,
  ) {}

  async execute({ request, wanted }: RequestAudit): Promise<RequestedAudit | Refusal> {
    const order = orderOf(request, wanted);
    const standing = await this.standing(order);
    if (standing) return standing;
    if (wanted.session !== null && !(await this.exists(wanted.session))) return sessionNotFound();
    if ((await this.register.running()) === null) await this.launcher.idle();
    return this.inTurn(() => this.begin(order));
  }

  private async begin(order: AuditOrder): Promise<RequestedAudit | Refusal> {
    if (!this.launcher.isBusy && (await this.register.begin(order))) {
      this.launcher.start(order);
      return { id: order.id, state: 'running', replayed: false };
    }
    return (await this.standing(order)) ?? this.busy();
  }

  private async standing({ id, bodyHash }: AuditOrder): Promise<RequestedAudit | Refusal | null> {
    if (bodyHash === null) return null;
    const found = await this.register.find(id);
    if (!found) return null;
    return found.bodyHash === bodyHash
      ? { id, state: found.state, replayed: true }
      : refuse('idempotency_mismatch', 'The Idempotency-Key was used with another body.');
  }

  private async busy(): Promise<Refusal> {
    const running = await this.register.running();
    return refuse(
      'conflict',
      running === null ? 'Another audit is ending' : `Another audit runs: ${running}`,
    );
  }

  private async exists(session: string): Promise<boolean> {
    try {
      return (await this.sessions.recall(session)).facts !== null;
    } catch (error) {
      // A parked session is a session.
      if (error instanceof UnreadableEvent) return true;
      throw error;
    }
  }
}

function orderOf(request: CommandRequest, wanted: AuditRequest): AuditOrder {
  return {
    id: mintId('audit', request),
    requestedBy: principalKey(request.principal),
    bodyHash: request.idempotency?.hash ?? null,
    projections: auditedProjections(projectionSet, wanted).map(({ name }) => name),
    session: wanted.session,
  };
}
