import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const DAMAGE_FILE = 'eventstore.damaged';

/** Remembers across starts that damage was found, so that the next start checks everything before it serves. */
export function noteDamage(dir: string, error: Error): void {
  writeFileSync(join(dir, DAMAGE_FILE), `${error.message}\n`, { mode: 0o600 });
}

export function notedDamage(dir: string): string | undefined {
  const file = join(dir, DAMAGE_FILE);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** After a backup was put in place of the damaged file and found whole. */
export function forgetDamage(dir: string): void {
  rmSync(join(dir, DAMAGE_FILE), { force: true });
}
