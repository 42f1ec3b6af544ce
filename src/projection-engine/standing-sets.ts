import type pg from 'pg';
import { underLock } from '../database/migrate.js';
import { isOwnedNow, LEASE_MS, RENEW_MS } from './ownership.js';
import { ForeignLog, type LogPlace } from './set-schema.js';
import { isScratch, schemaOf } from './set-version.js';

/** A set of read models that is in the database, whichever build it belongs to. */
interface StandingSet {
  readonly version: string;
  readonly logId: string;
  readonly position: bigint;
}

const POLL_MS = 250;

/** Read models of another log are in use: this log may not be the right one. */
export class ForeignSetInUse extends Error {
  constructor(version: string) {
    super(`set ${version} belongs to another log and is in use; stop who uses it first, or name its log`);
    this.name = 'ForeignSetInUse';
  }
}

/**
 * Read models of any build say whether this is the log that the database belongs to, and that it has not lost what they
 * hold. Throws `ForeignLog` when it is not; otherwise folded streams that the log does not hold are forgotten.
 */
export async function checkLog(url: string, log: LogPlace): Promise<void> {
  await underLock(url, async (client) => {
    const [reason] = (await foreignSets(client, log)).values();
    if (reason !== undefined) throw new ForeignLog(reason);
    await client.query('DELETE FROM rollcall.stream_snapshots WHERE log_id <> $1 OR position > $2', [
      log.id,
      (await log.head()).toString(),
    ]);
  });
}

/** Whether any build's read models belong to another log, or to a longer one that was since restored. */
export async function hasForeignSets(url: string, log: LogPlace): Promise<boolean> {
  let found = false;
  await underLock(url, async (client) => {
    found = (await foreignSets(client, log)).size > 0;
  });
  return found;
}

/**
 * Drops the read models of any build that do not belong to this log, and then all folded streams and unfinished work
 * too: which log these are from nothing tells for sure. Throws `ForeignSetInUse`; then nothing was dropped.
 */
export async function dropForeignSets(url: string, log: LogPlace, signal: AbortSignal): Promise<void> {
  const until = performance.now() + LEASE_MS + RENEW_MS;
  for (;;) {
    const inUse = await tryDrop(url, log);
    if (inUse === null) return;
    if (performance.now() > until) throw new ForeignSetInUse(inUse);
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The version of a set that is in use, or null when everything is dropped. */
async function tryDrop(url: string, log: LogPlace): Promise<string | null> {
  let inUse: string | null = null;
  await underLock(url, async (client) => {
    const foreign = await foreignSets(client, log);
    if (foreign.size === 0) return;
    const versions = [...foreign.keys(), ...(await versionsNow(client)).filter(isScratch)];
    await client.query('BEGIN');
    await client.query('DELETE FROM rollcall.stream_snapshots');
    for (const version of versions) {
      await client.query(`DROP SCHEMA ${client.escapeIdentifier(schemaOf(version))} CASCADE`);
    }
    await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = ANY($1)', [versions]);
    // Last: others wait for the lock on an owner's row. A former owner must find a higher epoch.
    const owned = await client.query<{ version: string; alive: boolean }>(
      `UPDATE rollcall.projection_sets AS new SET epoch = new.epoch + 1, owner = NULL
       FROM (SELECT version, ${isOwnedNow} AS alive FROM rollcall.projection_sets
             WHERE version = ANY($1) FOR UPDATE) AS old
       WHERE new.version = old.version RETURNING old.version, old.alive`,
      [versions],
    );
    inUse = owned.rows.find(({ alive }) => alive)?.version ?? null;
    await client.query(inUse === null ? 'COMMIT' : 'ROLLBACK');
  });
  return inUse;
}

/** The sets that cannot be shown beside this log, each with the reason. */
async function foreignSets(client: pg.Client, log: LogPlace): Promise<Map<string, string>> {
  const sets: StandingSet[] = [];
  for (const version of await versionsNow(client)) {
    if (!isScratch(version)) sets.push(await standingSet(client, version));
  }
  // Read after the checkpoints, which their owners move meanwhile.
  const head = await log.head();
  const reasons = new Map<string, string>();
  for (const { version, logId, position } of sets) {
    if (logId !== log.id)
      reasons.set(version, `The read models belong to log ${logId}, this is log ${log.id}`);
    else if (position > head)
      reasons.set(version, `The read models stand at ${position}, beyond the log's head ${head}`);
  }
  return reasons;
}

async function standingSet(client: pg.Client, version: string): Promise<StandingSet> {
  const { rows } = await client.query<{ log_id: string; position: string }>(
    `SELECT log_id, position FROM ${client.escapeIdentifier(schemaOf(version))}.checkpoint`,
  );
  return { version, logId: rows[0]?.log_id ?? 'unknown', position: BigInt(rows[0]?.position ?? -1) };
}

/** Of all sets whose tables are there, scratch sets among them. */
export async function versionsNow(client: pg.Client): Promise<string[]> {
  const prefix = schemaOf('');
  const { rows } = await client.query<{ name: string }>(
    `SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1)
       AND to_regclass(quote_ident(nspname) || '.checkpoint') IS NOT NULL ORDER BY nspname`,
    [prefix],
  );
  return rows.map(({ name }) => name.slice(prefix.length));
}
