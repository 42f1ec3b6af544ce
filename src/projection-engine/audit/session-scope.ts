/** How the rows of a read model belong to sessions. */
export interface SessionColumns {
  /** Names the session. */
  readonly own: string;
  /** Lists the sessions above it; null where the row does not say. */
  readonly ancestors: string | null;
}

/** Of one session and all below it. */
export interface SessionScope extends SessionColumns {
  /** These sessions, by the log. */
  readonly ids: readonly string[];
  /** The topmost of them: a row that claims to be below it is looked at, whatever the log says. */
  readonly top: string;
}

const COLUMNS: Readonly<Record<string, SessionColumns>> = {
  sessions: { own: 'id', ancestors: 'ancestor_ids' },
  'child-session-summary': { own: 'id', ancestors: 'ancestor_ids' },
  // What these sessions contribute, to ancestors above the topmost too.
  'session-rollups': { own: 'session_id', ancestors: null },
  'session-items': { own: 'session_id', ancestors: null },
  'session-deletions': { own: 'id', ancestors: null },
  'pending-elicitations': { own: 'session_id', ancestors: 'ancestor_ids' },
  // What parents among them owe to their children, and these to them.
  obligations: { own: 'parent_id', ancestors: null },
};

/** Null for a projection whose rows belong to no session: agents, and keys of commands, which do not tell it. */
export function sessionColumnsOf(projection: string): SessionColumns | null {
  return COLUMNS[projection] ?? null;
}
