import type { Database } from '../../database/database.js';

const NAME_LENGTH = 63;
const GONE_WITHIN_MS = 1_000;

/** Names a filler's connection by its set, so that the next owner finds it. */
export function fillerName(setVersion: string): string {
  return `rollcall-filler-${setVersion}`.slice(0, NAME_LENGTH);
}

/**
 * Ends the connections of former owners. One whose process stands still in the middle of a transaction, or cannot be
 * reached, would keep the rows that it has written there from whoever fills the set now.
 */
export async function endFormerFillers(database: Database, setVersion: string, epoch: bigint): Promise<void> {
  await database.query(
    'end-former-fillers',
    // Who has been replaced must not end the connection of its successor.
    `SELECT pg_terminate_backend(pid, ${GONE_WITHIN_MS}) FROM pg_stat_activity WHERE application_name = $1
       AND EXISTS (SELECT FROM rollcall.projection_sets WHERE version = $2 AND epoch = $3)`,
    [fillerName(setVersion), setVersion, epoch.toString()],
  );
}
