const FORCE = 'ROLLCALL_EMBEDDED_FORCE';

/**
 * Throws under NODE_ENV=production unless ROLLCALL_EMBEDDED_FORCE=1; answers the warning to print when forced,
 * and undefined anywhere else.
 */
export function productionNotice(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env['NODE_ENV'] !== 'production') return undefined;
  if (env[FORCE] !== '1') {
    throw new Error(
      `the embedded node is not for production: point EVENTSTORE_URL at an EventStoreDB, or set ${FORCE}=1`,
    );
  }
  return `running in production because ${FORCE}=1: one node, no TLS, no users, no replication`;
}
