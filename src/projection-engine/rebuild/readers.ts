import type pg from 'pg';
import type { AnyProjection } from '../../../projections/projection-set.js';
import { schemaOf } from '../set-version.js';

/** An audit's snapshot, the longest of our own, is closed within a minute. */
const PATIENCE_MS = 120_000;
/** What ends sooner is not worth the wait: the swap itself waits for a moment. */
const LONG = "interval '500 milliseconds'";
const POLL_MS = 50;

/** Somebody read the old tables all the while; nothing was swapped. */
export class ReadersInTheWay extends Error {
  constructor(readers: string) {
    super(`the read models were in use all the while (${readers}); nothing was swapped`);
    this.name = 'ReadersInTheWay';
  }
}

export interface Patience {
  readonly signal: AbortSignal;
  readonly patienceMs?: number | undefined;
}

/**
 * Until no long transaction reads the set, ours or another's, a dump for instance: while it lasts the set stays with its
 * owner, and no lock is asked for behind which others would have to wait. Throws `ReadersInTheWay`.
 */
export async function outwaitLongReaders(
  client: pg.ClientBase,
  setVersion: string,
  projections: readonly AnyProjection[],
  { signal, patienceMs = PATIENCE_MS }: Patience,
): Promise<void> {
  const tables = projections.map(({ table }) => table.name);
  await outwait(client, performance.now() + patienceMs, signal, {
    text: `SELECT pid, application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND coalesce(xact_start, '-infinity') < clock_timestamp() - ${LONG}
         AND (application_name LIKE 'rollcall%' AND backend_xmin IS NOT NULL
           OR pid IN (SELECT pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
             WHERE l.granted AND c.relnamespace = to_regnamespace($1) AND c.relname = ANY($2)))`,
    values: [schemaOf(setVersion), tables],
  });
}

/**
 * Until all of our own transactions in this database see what is committed now: one with an older snapshot would find
 * the new tables under the old names and miss their newest rows. Throws `ReadersInTheWay`.
 *
 * Told by when a transaction began: its `backend_xmin` is as old as the oldest writer of the whole database.
 */
export async function outwaitOlderReaders(client: pg.ClientBase, withinMs: number): Promise<void> {
  const now = await client.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
  await outwait(client, performance.now() + withinMs, null, {
    text: `SELECT pid, application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'rollcall%'
         AND backend_xmin IS NOT NULL AND xact_start <= $1::timestamptz`,
    values: [now.rows[0]?.now],
  });
}

async function outwait(
  client: pg.ClientBase,
  until: number,
  signal: AbortSignal | null,
  query: { readonly text: string; readonly values: unknown[] },
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const { rows } = await client.query<{ pid: number; name: string }>(query);
    if (rows.length === 0) return;
    if (performance.now() > until)
      throw new ReadersInTheWay(rows.map(({ pid, name }) => `${name} ${pid}`).join(', '));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
