import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Connection strings of the log and of the database. */
export interface Stores {
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
}

const FILE = 'addresses.json';

/** The database's password is in it, so nobody else may read it. */
export function writeAddresses(dataDir: string, stores: Stores): void {
  const draft = join(dataDir, `${FILE}.new`);
  writeFileSync(draft, `${JSON.stringify({ pid: process.pid, ...stores })}\n`, { mode: 0o600 });
  renameSync(draft, join(dataDir, FILE));
}

export function removeAddresses(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** What the process that has the directory left word of; null when that is another's word, left by a kill. */
export function readAddresses(dataDir: string, holder: number | null): Stores | null {
  try {
    const found: unknown = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8'));
    if (!isAddresses(found) || found.pid !== holder) return null;
    return { eventStoreUrl: found.eventStoreUrl, databaseUrl: found.databaseUrl };
  } catch {
    return null;
  }
}

function isAddresses(value: unknown): value is Stores & { readonly pid: number } {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, eventStoreUrl, databaseUrl } = value as Partial<Record<'pid' | keyof Stores, unknown>>;
  return typeof pid === 'number' && typeof eventStoreUrl === 'string' && typeof databaseUrl === 'string';
}
