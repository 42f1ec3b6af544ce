import type { Database } from '../database/database.js';
import type { EventLog } from '../event-store/event-log.js';
import { liesBelowDeletedSql } from '../sessions/queries/deleted.js';
import type { CheckpointWatch } from '../projection-engine/checkpoint-watch.js';

/** The head may belong to another application, whose events reach the checkpoint only now and then. */
const CATCH_UP_MS = 500;

export interface PromptHolder {
  readonly sessionId: string;
  readonly open: boolean;
}

/** Which sessions below another one hold a prompt. */
export class PromptHolders {
  constructor(
    private readonly database: Database,
    private readonly schema: string,
    private readonly log: EventLog,
    private readonly watch: CheckpointWatch,
  ) {}

  /** A miss catches up with the log once before it says that there is none. */
  async below(
    session: { readonly id: string; readonly rootId: string },
    elicitationId: string,
  ): Promise<PromptHolder[]> {
    // From before the look: what is projected during it may have been missed by it.
    const seen = this.watch.position;
    const found = await this.find(session, elicitationId);
    if (found.some(({ open }) => open)) return found;
    const head = await this.log.head();
    if (head === null || head <= seen) return found;
    await this.watch.waitFor(head, CATCH_UP_MS);
    return this.find(session, elicitationId);
  }

  private async find(
    session: { readonly id: string; readonly rootId: string },
    elicitationId: string,
  ): Promise<PromptHolder[]> {
    const rows = await this.database.query<{ session_id: string; open: boolean }>(
      'prompt-holders',
      `SELECT session_id, state = 'open' AS open FROM ${this.schema}.pending_elicitations
       WHERE root_id = $1 AND elicitation_id = $2 AND $3 = ANY(ancestor_ids)
         AND NOT ${liesBelowDeletedSql(this.schema, 'ancestor_ids')} ORDER BY requested_position`,
      [session.rootId, elicitationId, session.id],
    );
    return rows.map(({ session_id, open }) => ({ sessionId: session_id, open }));
  }
}
