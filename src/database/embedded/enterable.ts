import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and its missing ancestors. When root makes them, others may pass through (not look inside): Postgres
 * will not run as root, so its user has to get to its own files whatever root's umask says.
 */
export function makeEnterable(directory: string): void {
  const missing: string[] = [];
  for (let level = directory; !existsSync(level); level = dirname(level)) missing.unshift(level);
  for (const level of missing) {
    // Level by level: where nothing can be made (as in /proc), the recursive form goes round for ever.
    if (!existsSync(level)) mkdirSync(level);
    if (process.getuid?.() === 0) chmodSync(level, 0o711);
  }
}
