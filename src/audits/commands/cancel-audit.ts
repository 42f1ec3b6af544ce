import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AuditLauncher } from '../audit-launcher.js';
import { AuditRegister } from '../audit-register.js';

/** `DELETE /v1/audits/{id}`: its process notices and removes what it made. One that has ended stays as it is. */
export class CancelAudit extends Command<void> {
  constructor(readonly id: string) {
    super();
  }
}

@CommandHandler(CancelAudit)
export class CancelAuditHandler implements ICommandHandler<CancelAudit> {
  constructor(
    private readonly register: AuditRegister,
    private readonly launcher: AuditLauncher,
  ) {}

  async execute({ id }: CancelAudit): Promise<void> {
    const cancelled = await this.register.end(id, { state: 'cancelled', error: 'it was cancelled' });
    if (cancelled) this.launcher.cancel(id);
  }
}
