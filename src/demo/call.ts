import type { ReplayedEvent } from '../event-store/recording.js';
import { type IdMap, promptKey } from './id-map.js';

/** One request of the demo. */
export interface Call {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body: object;
  /** The recorded id that a member of the answer stands for. */
  readonly gives?: { readonly recorded: string; readonly member: 'id' | 'elicitation_id' };
}

/**
 * The command that once led to this event, to be given again; null for events that follow from another one's command.
 * `now`: epoch milliseconds, so that what expires keeps its distance.
 */
export function callFor(event: ReplayedEvent, ids: IdMap, now: number): Call | null {
  const { event: fact, subjectId } = event;
  switch (fact.type) {
    case 'AgentRegistered': {
      const { name, spec } = fact.data;
      const gives = { recorded: subjectId, member: 'id' } as const;
      return { method: 'POST', path: '/v1/agents', body: { name, spec }, gives };
    }
    case 'SessionSpawned': {
      const { agent_id, parent_session_id, title, tool, session_name, labels } = fact.data;
      const body = {
        agent_id: ids.ofNullable(agent_id),
        parent_session_id: ids.ofNullable(parent_session_id),
        ...{ title, tool, session_name, labels },
      };
      const gives = { recorded: subjectId, member: 'id' } as const;
      return { method: 'POST', path: '/v1/sessions', body, gives };
    }
    case 'SessionRenamed':
      return { method: 'PATCH', path: sessionPath(), body: { title: fact.data.title } };
    case 'SessionLabelled':
      return { method: 'PATCH', path: sessionPath(), body: { labels: fact.data.labels } };
    case 'SessionClosed':
      return { method: 'POST', path: `${sessionPath()}/close`, body: { reason: fact.data.reason } };
    case 'ItemAppended': {
      const { item_type, payload: item_data, response_id } = fact.data;
      return posted('external_conversation_item', { item_type, item_data, response_id });
    }
    case 'SessionStatusChanged': {
      const { reported: status, error, ...rest } = fact.data;
      const { response_id, background_task_count, blocked_on, output } = rest;
      const reauth_required = error?.code === 'codex_reauth_required';
      const edge = { status, response_id, background_task_count, blocked_on, output, reauth_required };
      return posted('external_session_status', edge);
    }
    case 'ElicitationRequested': {
      const { params, response_id, expires_at } = fact.data;
      const later = (now - event.recordedAt) / 1000;
      const data = { ...params, response_id, expires_at: expires_at === null ? null : expires_at + later };
      const recorded = promptKey(subjectId, fact.data.elicitation_id);
      return { ...posted('mcp_elicitation', data), gives: { recorded, member: 'elicitation_id' } };
    }
    case 'ElicitationResolved': {
      const { action, content, via } = fact.data;
      const elicitation_id = prompt(fact.data.elicitation_id);
      if (via === 'event') return posted('approval', { elicitation_id, action, content });
      const path = `${sessionPath()}/elicitations/${encodeURIComponent(elicitation_id)}/resolve`;
      return { method: 'POST', path, body: { action, content } };
    }
    case 'ElicitationWithdrawn':
      if (fact.data.reason !== 'answered_elsewhere') return null;
      return posted('external_elicitation_resolved', { elicitation_id: prompt(fact.data.elicitation_id) });
    case 'SessionInterrupted':
      if (fact.data.follows !== null) return null;
      return posted(fact.data.requested === 'stop' ? 'stop_session' : 'interrupt', {});
    case 'SessionDeleted':
      if (fact.data.follows !== null) return null;
      return { method: 'DELETE', path: sessionPath(), body: {} };
    case 'CascadeCompleted':
    case 'ElicitationExpired':
    case 'ChildSpawned':
    case 'ChildRenamed':
    case 'ChildReleased':
    case 'LogCreated':
      return null;
  }

  function sessionPath(): string {
    return `/v1/sessions/${ids.of(subjectId)}`;
  }
  function prompt(recorded: string): string {
    return ids.of(promptKey(subjectId, recorded));
  }
  function posted(type: string, data: object): Call {
    return { method: 'POST', path: `${sessionPath()}/events`, body: { type, data } };
  }
}
