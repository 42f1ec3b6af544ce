import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Principal } from '../../auth/principal.js';
import { ReadModels } from '../../read-models/read-models.js';
import { isRefusal, type Refusal } from '../../refusal.js';
import { accessible } from '../../sessions/access.js';
import { SessionCommands } from '../../sessions/session-commands.js';

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

/** `GET /v1/sessions/{id}/elicitations/{E}`: a prompt of the session itself or of one below it. */
export class GetElicitation extends Query<ElicitationView | Refusal> {
  constructor(
    readonly principal: Principal,
    readonly sessionId: string,
    readonly elicitationId: string,
  ) {
    super();
  }
}

const DEFAULT_MESSAGE = 'Approval required';

@QueryHandler(GetElicitation)
export class GetElicitationHandler implements IQueryHandler<GetElicitation> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly sessions: SessionCommands,
  ) {}

  async execute({ principal, sessionId, elicitationId }: GetElicitation): Promise<ElicitationView | Refusal> {
    const facts = accessible(principal, await this.sessions.recall(sessionId));
    if (isRefusal(facts)) return facts;
    const rows = await this.readModels.query<{ params: Record<string, unknown> }>(
      'get-elicitation',
      `SELECT params FROM ${this.readModels.schema}.pending_elicitations
       WHERE root_id = $1 AND elicitation_id = $2 AND state = 'open' AND (session_id = $3 OR $3 = ANY(ancestor_ids))
       ORDER BY session_id = $3 DESC, requested_position LIMIT 1`,
      [facts.rootId, elicitationId, sessionId],
    );
    const params = rows[0]?.params;
    if (!params) return { status: 'resolved' };
    return {
      status: 'pending',
      message: textOr(params['message'], DEFAULT_MESSAGE),
      phase: textOr(params['phase'], ''),
      policy_name: textOr(params['policy_name'], ''),
      content_preview: textOr(params['content_preview'], ''),
    };
  }
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
