/** The audit could not run, for a reason that an operator can act upon. */
export class AuditImpossible extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'AuditImpossible';
  }
}
