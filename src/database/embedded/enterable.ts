import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and its missing ancestors. When root makes them, others may pass through (not look inside): Postgres
 * will not run as root, so its user has to get to its own files whatever root's umask says.
 */
export function makeEnterable(directory: string): void {
  const first = mkdirSync(directory, { recursive: true });
  if (first === undefined || process.getuid?.() !== 0) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) chmodSync(made, 0o711);
}
