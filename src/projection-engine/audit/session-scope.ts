/**
 * Which rows of a read model belong to a session and all below it: predicates over `$1`, the ids of these sessions by
 * the log, and `$2`, the topmost of them. Agents belong to no session, and a command's key does not tell its session.
 */
const SCOPES: Readonly<Record<string, string>> = {
  sessions: 'id = ANY($1) OR ancestor_ids @> ARRAY[$2::text]',
  'child-session-summary': 'id = ANY($1) OR ancestor_ids @> ARRAY[$2::text]',
  // What these sessions contribute, to ancestors above the topmost too.
  'session-rollups': 'session_id = ANY($1)',
  'session-items': 'session_id = ANY($1)',
  'pending-elicitations': 'session_id = ANY($1) OR ancestor_ids @> ARRAY[$2::text]',
  // What parents among them owe to their children, and these to them.
  obligations: 'parent_id = ANY($1)',
};

/** Null for a projection whose rows belong to no session. */
export function sessionScopeOf(projection: string): string | null {
  return SCOPES[projection] ?? null;
}
