import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { EmbeddedPostgresError } from './embedded-log.js';

/** The user that Postgres runs as when it is not the one that runs Rollcall. */
export interface Operator {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Postgres refuses to run as root. Root therefore runs it as the owner of the existing data, or else as `nobody`: a
 * user that must exist in the password file. Anybody else runs it as they are (null).
 */
export function operatorOf(dataDirectory: string): Operator | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(dataDirectory, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return nobody();
}

function nobody(): Operator {
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (entry === null) {
    throw new EmbeddedPostgresError(
      'Postgres refuses to run as root and there is no user "nobody" to run it as; start Rollcall as an ordinary user, or set DATABASE_URL to a Postgres server',
    );
  }
  return { uid: Number(entry[1]), gid: Number(entry[2]) };
}

/** Whether the operator can get into a directory: asked of the kernel, which knows more than the mode bits. */
export function canEnter(operator: Operator | null, directory: string): boolean {
  if (operator === null) return true;
  return succeeds(operator, 'cd -- "$0"', directory);
}

/** Runs one line of shell as the operator. */
export function succeeds(operator: Operator, line: string, ...values: readonly string[]): boolean {
  const run = spawnSync('/bin/sh', ['-c', line, ...values], {
    ...as(operator),
    cwd: '/',
    env: {},
    stdio: 'ignore',
  });
  return run.status === 0;
}

/** Options of spawn for the operator. */
export function as(operator: Operator | null): { uid?: number; gid?: number } {
  return operator === null ? {} : { uid: operator.uid, gid: operator.gid };
}
