import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Principal } from '../../auth/principal.js';
import { fromDatabase } from '../../projection-engine/row-codec.js';
import { ReadModels } from '../../read-models/read-models.js';
import { isRefusal, type Refusal } from '../../refusal.js';
import { rowOf, sessionColumns, type SessionRow } from '../../../projections/sessions/row.js';
import { accessible, mayAccess, sessionNotFound } from '../access.js';
import type { SessionFacts } from '../domain/facts.js';
import { SessionCommands } from '../session-commands.js';
import { isDeletedSql, liesBelowDeletedSql } from './deleted.js';
import { afterMiss } from './session-gate.js';
import { type ItemRow, type OpenPromptRow, type Snapshot, toSnapshot } from './snapshot.js';

const SNAPSHOT_ITEMS = 100;
/** `contract/sessions.md` 1.7. */
const OWNER_LEVEL = 4;

export interface SnapshotOptions {
  readonly items: boolean;
  readonly liveness: boolean;
}

/**
 * `state`: the read models are known to lag behind a change just made. `either`: they show it, but should they fail
 * now, the decided state answers, since a change that is durable is never answered with an error.
 */
export type SnapshotFrom = 'read-models' | 'state' | 'either';

export class GetSession extends Query<Snapshot | Refusal> {
  constructor(
    readonly principal: Principal,
    readonly sessionId: string,
    readonly options: SnapshotOptions,
    readonly source: SnapshotFrom,
    /** True after a change: that a session was deleted since does not take the change's answer away. */
    readonly evenDeleted: boolean,
  ) {
    super();
  }
}

interface Found {
  readonly checkpoint: string;
  readonly is_deleted: boolean;
  readonly prompts: readonly OpenPromptRow[] | null;
  readonly items: readonly ItemRow[] | null;
}

@QueryHandler(GetSession)
export class GetSessionHandler implements IQueryHandler<GetSession> {
  private readonly text: string;

  constructor(
    private readonly readModels: ReadModels,
    private readonly sessions: SessionCommands,
  ) {
    const { schema } = readModels;
    this.text = `
      SELECT c.position AS checkpoint, s.*, ${isDeletedSql(schema, 's')} AS is_deleted,
        (SELECT json_agg(json_build_object('session_id', e.session_id, 'elicitation_id', e.elicitation_id, 'params', e.params,
             'requested_at', floor(extract(epoch FROM e.requested_at))) ORDER BY e.requested_position)
         FROM ${schema}.pending_elicitations e
         WHERE e.root_id = s.root_id AND e.state = 'open' AND (e.session_id = s.id OR s.id = ANY(e.ancestor_ids))
           AND NOT ${liesBelowDeletedSql(schema, 'e.ancestor_ids')}) AS prompts,
        (SELECT json_agg(json_build_object('item_id', i.item_id, 'response_id', i.response_id, 'type', i.type, 'payload', i.payload,
             'created_by', i.created_by, 'created_at', floor(extract(epoch FROM i.created_at))) ORDER BY i.position)
         FROM (SELECT * FROM ${schema}.session_items WHERE session_id = s.id ORDER BY position DESC LIMIT $2) i) AS items
      FROM ${schema}.checkpoint c JOIN ${schema}.sessions s ON s.id = $1`;
  }

  async execute(query: GetSession): Promise<Snapshot | Refusal> {
    if (query.source === 'state') return this.fromState(query);
    try {
      return (await this.find(query)) ?? (await this.findLater(query));
    } catch (error) {
      if (query.source === 'read-models') throw error;
      return this.fromState(query);
    }
  }

  private async find({
    principal,
    sessionId,
    options,
    evenDeleted,
  }: GetSession): Promise<Snapshot | Refusal | null> {
    const rows = await this.readModels.query<Found & Record<string, unknown>>('get-session', this.text, [
      sessionId,
      options.items ? SNAPSHOT_ITEMS : 0,
    ]);
    const [found] = rows;
    if (!found) return null;
    const session = fromDatabase(sessionColumns, found) as SessionRow;
    if ((found.is_deleted && !evenDeleted) || !mayAccess(principal, session)) return sessionNotFound();
    return {
      body: toSnapshot({
        session,
        prompts: found.prompts ?? [],
        items: found.items ?? [],
        permissionLevel: levelOf(principal),
        withLiveness: options.liveness,
      }),
      checkpoint: BigInt(found.checkpoint),
      etag: session.position,
    };
  }

  /** Read models that do not come to it in time leave what its own stream says. */
  private async findLater(query: GetSession): Promise<Snapshot | Refusal> {
    const refusal = await afterMiss(this.readModels, this.sessions, query.principal, query.sessionId);
    return refusal ?? (await this.find(query)) ?? this.fromState(query);
  }

  /** What is open below a session is another stream's fact: the read models know it, however far they lag. */
  private shownPrompts({ id, rootId }: SessionFacts): Promise<OpenPromptRow[]> {
    return this.readModels.query<OpenPromptRow>(
      'shown-prompts',
      `SELECT session_id, elicitation_id, params, floor(extract(epoch FROM requested_at))::double precision AS requested_at
       FROM ${this.readModels.schema}.pending_elicitations
       WHERE root_id = $1 AND state = 'open' AND (session_id = $2 OR $2 = ANY(ancestor_ids))
         AND NOT ${liesBelowDeletedSql(this.readModels.schema, 'ancestor_ids')} ORDER BY requested_position`,
      [rootId, id],
    );
  }

  private async fromState({
    principal,
    sessionId,
    options,
    evenDeleted,
  }: GetSession): Promise<Snapshot | Refusal> {
    // What this process remembers holds its own change, also while the log is away.
    const state = await (evenDeleted
      ? this.sessions.recallEvenDeleted(sessionId)
      : this.sessions.recall(sessionId));
    const facts = accessible(principal, state);
    if (isRefusal(facts)) return facts;
    const shown = await this.shownPrompts(facts).catch((): OpenPromptRow[] => []);
    const own = [...state.prompts.open].map(([id, { params }]) => {
      const row = shown.find((prompt) => prompt.session_id === sessionId && prompt.elicitation_id === id);
      const requested_at = row?.requested_at ?? Math.floor(facts.updatedAt / 1000);
      return { session_id: sessionId, elicitation_id: id, params, requested_at };
    });
    const prompts = [...own, ...shown.filter((prompt) => prompt.session_id !== sessionId)];
    const source = {
      session: rowOf(facts),
      prompts,
      items: [],
      permissionLevel: levelOf(principal),
      withLiveness: options.liveness,
    };
    return { body: toSnapshot(source), checkpoint: facts.position, etag: facts.position };
  }
}

function levelOf(principal: Principal): number | null {
  return principal.kind === 'anonymous' ? null : OWNER_LEVEL;
}
