import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { refuse } from '../../../refusal.js';
import type { SessionEvent, SessionSpawn } from '../events.js';
import type { SessionFacts } from '../facts.js';
import type { SessionState } from '../state.js';

/** Levels below the root (design 3). */
export const MAX_TREE_DEPTH = 64;

export interface SpawnRequest {
  readonly sessionId: string;
  readonly owner: string | null;
  readonly agentId: string | null;
  readonly agentName: string | null;
  readonly title: string | null;
  readonly tool: string | null;
  readonly sessionName: string | null;
  readonly labels: Readonly<Record<string, string>>;
}

export function decideSpawnRoot(
  state: SessionState,
  request: SpawnRequest,
): Decision<SessionEvent, { session_id: string }> {
  if (state.facts) return refuse('already_exists', 'A session with this id exists already.');
  const spawn = {
    ...common(request),
    parent_session_id: null,
    root_session_id: request.sessionId,
    ancestor_ids: [],
  };
  return {
    events: [{ type: 'SessionSpawned', data: { ...spawn, owner: request.owner } }],
    result: { session_id: request.sessionId },
  };
}

/** The child that holds the wanted name; the caller looks whether it is closed or deleted. */
export interface NameTaken {
  readonly nameTakenBy: string;
}

export interface ChildSpawn {
  readonly spawn: SessionSpawn;
}

/**
 * On the parent's stream. `released` names a holder of the title that the caller has seen closed or deleted: its name is
 * freed in the same append.
 */
export function decideSpawnChild(
  parent: SessionState,
  request: SpawnRequest,
  released: string | null,
): Decision<SessionEvent, ChildSpawn | NameTaken> {
  const facts = parent.facts;
  if (!facts || facts.deleted) return refuse('not_found', 'Parent session not found');
  if (facts.closed !== null) return refuse('conflict', 'Session is closed: it takes no new children.');
  if (facts.ancestorIds.length >= MAX_TREE_DEPTH) {
    return refuse('unprocessable', `The tree is limited to ${MAX_TREE_DEPTH} levels.`, {
      type: 'value_error',
      loc: ['body', 'parent_session_id'],
      input: facts.id,
    });
  }
  const name = openNameOf(request.title);
  const holder = name === null ? undefined : parent.children.byName.get(name);
  if (holder !== undefined && holder !== released) return { events: [], result: { nameTakenBy: holder } };
  const spawn = childSpawnOf(facts, request);
  const release: SessionEvent[] =
    holder === undefined ? [] : [{ type: 'ChildReleased', data: { child_id: holder } }];
  return {
    events: [...release, { type: 'ChildSpawned', data: { child_id: request.sessionId, name, spawn } }],
    result: { spawn },
  };
}

/** Owner and lineage come from the parent, and neither ever changes: the same request gives the same spawn again. */
export function childSpawnOf(parent: SessionFacts, request: SpawnRequest): SessionSpawn {
  return {
    ...common(request),
    parent_session_id: parent.id,
    root_session_id: parent.rootId,
    ancestor_ids: [...parent.ancestorIds, parent.id],
    owner: parent.owner,
  };
}

/** The child's own first event, the same whether the command or the reactor writes it. */
export function decideBirth(state: SessionState, spawn: SessionSpawn): Decision<SessionEvent, null> {
  return { events: state.facts ? [] : [{ type: 'SessionSpawned', data: spawn }], result: null };
}

/** Untitled children hold no name. */
export function openNameOf(title: string | null): string | null {
  return title === '' ? null : title;
}

function common(
  request: SpawnRequest,
): Omit<SessionSpawn, 'parent_session_id' | 'root_session_id' | 'ancestor_ids' | 'owner'> {
  return {
    session_id: request.sessionId,
    agent_id: request.agentId,
    agent_name: request.agentName,
    title: request.title,
    tool: request.tool,
    session_name: request.sessionName,
    labels: request.labels,
  };
}
