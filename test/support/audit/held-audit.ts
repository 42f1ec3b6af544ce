import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { setSchema } from '../chaos/read-models.js';
import { until } from '../until.js';

/** Keeps audits from comparing until `release`: one that has folded waits before its snapshot. */
export async function holdAudits(databaseUrl: string): Promise<{ release(): Promise<void> }> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  const schema = await setSchema(databaseUrl);
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${schema}.sessions IN ACCESS EXCLUSIVE MODE`);
  return { release: () => client.end() };
}

/** Waits until an audit has folded into its scratch tables and is held. */
export async function heldAudit(databaseUrl: string): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'rollcall-audit' AND wait_event_type = 'Lock'`;
  await until('an audit to be held', async () => (await rowsOf(databaseUrl, waiting)).length > 0, {
    within: 60_000,
  });
}

/** What an audit keeps while it runs. */
export async function scratchLeft(databaseUrl: string): Promise<string[]> {
  const rows = await rowsOf<{ name: string }>(
    databaseUrl,
    `SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'rollcall\\_set\\_%\\_audit'
     UNION ALL SELECT version FROM rollcall.projection_sets WHERE version LIKE '%\\_audit' AND owner IS NOT NULL
     UNION ALL SELECT 'running ' || id FROM rollcall.audits WHERE state = 'running'`,
  );
  return rows.map(({ name }) => name);
}

/** Of the process that a server runs an audit in. */
export function auditProcess(server: number): Promise<number> {
  return until('the server to run an audit', () => childrenOf(server).find(isAudit), { within: 10_000 });
}

export async function rowsOf<Row extends object>(
  databaseUrl: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

function isAudit(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('audit-process');
}
