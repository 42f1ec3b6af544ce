import { stateAfter, type PromptState } from '../../src/elicitations/domain/prompt-book.js';
import type { ElicitationEvent } from '../../src/elicitations/domain/events.js';
import type { ProjectedEvent, ProjectedRow, Projection, RowKey } from '../projection.js';

/** One prompt of one session, open or settled. */
export interface ElicitationRow extends ProjectedRow {
  readonly session_id: string;
  readonly elicitation_id: string;
  readonly root_id: string;
  /** Root first, parent last: the prompt shows on each of them too. */
  readonly ancestor_ids: readonly string[];
  readonly state: PromptState;
  readonly params: Readonly<Record<string, unknown>>;
  readonly response_id: string | null;
  readonly expires_at: number | null;
  readonly requested_at: number;
  /** Keeps the order of first requests when a payload is replaced. */
  readonly requested_position: bigint;
  readonly action: string | null;
  readonly content: Readonly<Record<string, unknown>> | null;
  readonly resolved_by: string | null;
  readonly resolved_via: string | null;
  readonly withdrawn_reason: string | null;
  readonly settled_at: number | null;
}

export const pendingElicitationsProjection: Projection<ElicitationRow> = {
  name: 'pending-elicitations',
  version: 1,
  table: {
    name: 'pending_elicitations',
    columns: {
      session_id: 'text',
      elicitation_id: 'text',
      root_id: 'text',
      ancestor_ids: 'text[]',
      state: 'text',
      params: 'json',
      response_id: 'text',
      expires_at: 'timestamptz',
      requested_at: 'timestamptz',
      requested_position: 'bigint',
      action: 'text',
      content: 'json',
      resolved_by: 'text',
      resolved_via: 'text',
      withdrawn_reason: 'text',
      settled_at: 'timestamptz',
      position: 'bigint',
    },
    primaryKey: ['session_id', 'elicitation_id'],
    guards: ['position'],
    indexes: ["(root_id, requested_position) WHERE state = 'open'", '(root_id, elicitation_id)'],
    hot: [],
    insertOnly: false,
  },
  keysOf: (event) => {
    const prompt = asElicitation(event);
    return prompt ? [keyOf(event, prompt)] : [];
  },
  apply(event, rows) {
    const prompt = asElicitation(event);
    if (!prompt) return;
    const row = rows.get(keyOf(event, prompt));
    if (prompt.type === 'ElicitationRequested') {
      if (!row || row.state === 'open') rows.put(requested(event, prompt.data, row));
    } else if (row?.state === 'open') {
      rows.put({ ...row, ...settlement(prompt), settled_at: event.recordedAt, position: event.position });
    }
  },
};

type Requested = Extract<ElicitationEvent, { type: 'ElicitationRequested' }>['data'];
type Settling = Exclude<ElicitationEvent, { type: 'ElicitationRequested' }>;

function requested(
  event: ProjectedEvent,
  data: Requested,
  standing: ElicitationRow | undefined,
): ElicitationRow {
  return {
    session_id: event.subjectId,
    elicitation_id: data.elicitation_id,
    root_id: event.metadata.root_id ?? event.subjectId,
    ancestor_ids: event.metadata.ancestor_ids ?? [],
    state: 'open',
    params: data.params,
    response_id: data.response_id,
    expires_at: data.expires_at === null ? null : data.expires_at * 1000,
    requested_at: standing?.requested_at ?? event.recordedAt,
    requested_position: standing?.requested_position ?? event.position,
    action: null,
    content: null,
    resolved_by: null,
    resolved_via: null,
    withdrawn_reason: null,
    settled_at: null,
    position: event.position,
  };
}

function settlement(prompt: Settling): Partial<ElicitationRow> {
  switch (prompt.type) {
    case 'ElicitationResolved': {
      const { action, content, by, via } = prompt.data;
      return { state: stateAfter(action), action, content, resolved_by: by, resolved_via: via };
    }
    case 'ElicitationExpired':
      return { state: 'expired' };
    case 'ElicitationWithdrawn':
      return { state: 'withdrawn', withdrawn_reason: prompt.data.reason };
  }
}

function asElicitation({ event }: ProjectedEvent): ElicitationEvent | null {
  switch (event.type) {
    case 'ElicitationRequested':
    case 'ElicitationResolved':
    case 'ElicitationExpired':
    case 'ElicitationWithdrawn':
      return event;
    default:
      return null;
  }
}

function keyOf(event: ProjectedEvent, prompt: ElicitationEvent): RowKey {
  return [event.subjectId, prompt.data.elicitation_id];
}
