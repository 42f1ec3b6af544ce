import type { StoredEvent } from '../event-store.js';

/** One session as the log tells it: a second, plain reading that shares nothing with the projectors. */
export interface ToldSession {
  readonly id: string;
  readonly parent: string | null;
  readonly line: readonly string[];
  title: string | null;
  status: string;
  closed: string | null;
  deleted: boolean;
  position: string;
  readonly items: string[];
  readonly open: Set<string>;
}

const SESSION = 'rollcall.session-';

export function toldByLog(log: readonly StoredEvent[]): Map<string, ToldSession> {
  const sessions = new Map<string, ToldSession>();
  for (const event of log) {
    if (!event.stream.startsWith(SESSION)) continue;
    const id = event.stream.slice(SESSION.length);
    if (event.type === 'SessionSpawned' && !sessions.has(id)) sessions.set(id, born(id, event));
    const session = sessions.get(id);
    if (session) tell(session, event);
  }
  return sessions;
}

function born(id: string, { data, position }: StoredEvent): ToldSession {
  return {
    id,
    parent: data['parent_session_id'] as string | null,
    line: data['ancestor_ids'] as string[],
    title: data['title'] as string | null,
    status: 'none',
    closed: null,
    deleted: false,
    position,
    items: [],
    open: new Set(),
  };
}

function tell(session: ToldSession, { type, data, position }: StoredEvent): void {
  session.position = position;
  if (type === 'SessionRenamed') session.title = data['title'] as string | null;
  if (type === 'SessionStatusChanged') session.status = data['status'] as string;
  if (type === 'SessionClosed') session.closed = data['reason'] as string;
  if (type === 'SessionDeleted') session.deleted = true;
  if (/^Session(Closed|Interrupted|Deleted)$/.test(type) && isBusy(session)) session.status = 'idle';
  if (type === 'ItemAppended') session.items.push(data['item_id'] as string);
  if (type === 'ElicitationRequested') session.open.add(data['elicitation_id'] as string);
  if (/^Elicitation(Resolved|Expired|Withdrawn)$/.test(type))
    session.open.delete(data['elicitation_id'] as string);
}

export function isBusy({ status }: ToldSession): boolean {
  return status === 'running' || status === 'waiting';
}
