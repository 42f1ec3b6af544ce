import type { ExclusiveStack } from '../exclusive-stack.js';
import { runProcess } from '../process/started-process.js';

export interface DifferenceBody {
  readonly projection: string;
  readonly key: Readonly<Record<string, string>>;
  readonly field: string | null;
  readonly live: unknown;
  readonly expected: unknown;
  readonly event: Readonly<Record<string, string>> | null;
}

export interface AuditBody {
  readonly id: string;
  readonly state: string;
  readonly position: string | null;
  readonly rows_checked: number;
  readonly differences: readonly DifferenceBody[];
  readonly parked: readonly Readonly<Record<string, string>>[];
  readonly truncated: boolean;
}

type Stores = Pick<ExclusiveStack, 'eventStoreUrl' | 'databaseUrl'>;

/** Environment of a command that works on a stack. */
export function onStores({ eventStoreUrl, databaseUrl }: Stores): Record<string, string> {
  return { EVENTSTORE_URL: eventStoreUrl, DATABASE_URL: databaseUrl };
}

/** `rollcall audit`, to its end. */
export async function rollcallAudit(
  stores: Stores,
  ...args: string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  return runProcess('src/cli/main.js', { name: 'audit', args: ['audit', ...args], env: onStores(stores) });
}

/** The report of `rollcall audit --json`, which must have found out. */
export async function auditOf(stores: Stores, ...args: string[]): Promise<AuditBody> {
  const { code, output } = await rollcallAudit(stores, ...args, '--json');
  if (code !== 0 && code !== 1) throw new Error(`the audit exited ${code}: ${output}`);
  return JSON.parse(output) as AuditBody;
}
