import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const PID_FILE = 'eventstore.pid';

/** What a running node leaves in its directory; its port is 0 while it starts. The token proves to it that a caller may read that directory. */
export interface PidRecord {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
}

export function writePidFile(dir: string, record: PidRecord): void {
  writeFileSync(join(dir, PID_FILE), `${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** Undefined when there is none, or none that a node has written whole. */
export function readPidFile(dir: string): PidRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(dir, PID_FILE), 'utf8'));
    return isPidRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the file if it is still the one of this process. */
export function removePidFile(dir: string, pid: number): void {
  if (readPidFile(dir)?.pid === pid) rmSync(join(dir, PID_FILE), { force: true });
}

function isPidRecord(value: unknown): value is PidRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, port, token } = value as Partial<Record<keyof PidRecord, unknown>>;
  return typeof pid === 'number' && typeof port === 'number' && typeof token === 'string';
}
