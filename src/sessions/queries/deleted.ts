/**
 * SQL that is true of a session that was deleted, or lies below one that was: its own row says so, or that of an
 * ancestor in `session_deletions`. One look by primary key for each ancestor, whatever the fan-out.
 */
export function isDeletedSql(schema: string, session: string): string {
  return `(${session}.deleted OR ${liesBelowDeletedSql(schema, `${session}.ancestor_ids`)})`;
}

export function liesBelowDeletedSql(schema: string, ancestorIds: string): string {
  return `EXISTS (SELECT FROM ${schema}.session_deletions d WHERE d.id = ANY(${ancestorIds}))`;
}

/**
 * SQL that is true of a contribution in `session_rollups` (`r`) of a session which a running deletion has still to
 * reach; a session that was reached contributes nothing. Deletions that run are few, and have an index of their own.
 */
export function countsNoMoreSql(schema: string, rootId: string): string {
  return `EXISTS (
    SELECT FROM ${schema}.session_deletions d JOIN ${schema}.session_rollups below ON below.ancestor_id = d.id
    WHERE d.running AND d.root_id = ${rootId} AND below.session_id = r.session_id)`;
}
