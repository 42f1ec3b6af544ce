import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Distribution, binary, describe, linksAreMissing, makeLinks } from './distribution.js';
import { type EmbeddedLog, EmbeddedPostgresError } from './embedded-log.js';
import { makeEnterable } from './enterable.js';
import { type Operator, canEnter, operatorOf, succeeds } from './operator.js';

/** Where one embedded Postgres lives and who runs it. */
export interface Place {
  readonly distribution: Distribution;
  /** Holds the cluster (`data`), the password and the lock. */
  readonly home: string;
  readonly operator: Operator | null;
}

/** Where root shelters what its Postgres user cannot reach in the checkout: the first that can be used. */
export const SHELTERS: readonly string[] = ['/var/lib/rollcall', '/var/tmp/rollcall'];

/** In the data directory: says that the data is sheltered, and where. */
const POINTER = 'location';

/**
 * Settles where Postgres lives. Normally that is `directory` itself and the installed package. Where root runs a
 * checkout that other users cannot enter (one below /root, say), the data and a copy of the binaries go to a shelter,
 * and a pointer file in `directory` leads there.
 */
export function settle(
  directory: string,
  installed: Distribution,
  log: EmbeddedLog,
  shelters = SHELTERS,
): Place {
  makeEnterable(directory);
  const home = homeOf(directory, log, shelters);
  const operator = operatorOf(join(home, 'data'));
  return { home, operator, distribution: usable(installed, operator, home, log, shelters) };
}

function homeOf(directory: string, log: EmbeddedLog, shelters: readonly string[]): string {
  const pointer = join(directory, POINTER);
  if (existsSync(pointer)) {
    const home = readFileSync(pointer, 'utf8').trim();
    if (!existsSync(home))
      log.warn(`the database that ${pointer} names is gone (${home}); a new one is made there`);
    makeEnterable(home);
    return home;
  }
  if (canEnter(operatorOf(join(directory, 'data')), directory)) return directory;
  const key = createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 16);
  const home = join(shelter(shelters), `data-${key}`);
  makeEnterable(home);
  writeFileSync(pointer, `${home}\n`);
  log.warn(`Postgres does not run as root and its user cannot enter ${directory}; its data goes to ${home}`);
  return home;
}

function usable(
  installed: Distribution,
  operator: Operator | null,
  home: string,
  log: EmbeddedLog,
  shelters: readonly string[],
): Distribution {
  if (linksAreMissing(installed)) {
    log.info(`completing ${installed.packageName}: npm did not run its install script`);
    makeLinks(installed);
  }
  if (!linksAreMissing(installed) && runsFor(operator, installed)) return installed;
  const below = operator === null ? home : shelter(shelters);
  const root = join(below, `postgres-${installed.version}`);
  if (existsSync(root)) return describe(root, installed.packageName);
  log.warn(`the user that runs Postgres cannot use ${installed.root}; copying it to ${root}`);
  return copy(installed, root);
}

/** Whether the operator can execute the binaries and read what comes with them. */
function runsFor(operator: Operator | null, distribution: Distribution): boolean {
  if (operator === null) return true;
  const catalogue = join(distribution.root, 'native/share/postgresql/postgres.bki');
  return succeeds(operator, '"$0" --version && test -r "$1"', binary(distribution, 'initdb'), catalogue);
}

/** Complete or not there at all: others may copy at the same time, and a copy may be cut short. */
function copy(from: Distribution, root: string): Distribution {
  const draft = `${root}.${randomUUID().slice(0, 8)}`;
  mkdirSync(draft, { recursive: true });
  cpSync(from.root, draft, { recursive: true, verbatimSymlinks: true });
  openToReaders(draft);
  makeLinks(describe(draft, from.packageName));
  try {
    renameSync(draft, root);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(root)) throw error;
  }
  return describe(root, from.packageName);
}

/** An installation under a strict umask is readable by its owner only. */
function openToReaders(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  const executable = stat.isDirectory() || (stat.mode & 0o100) !== 0;
  chmodSync(path, executable ? 0o755 : 0o644);
  if (stat.isDirectory()) for (const name of readdirSync(path)) openToReaders(join(path, name));
}

/** A directory of root's that others may pass through. One that somebody else owns (in /var/tmp) is not trusted. */
function shelter(candidates: readonly string[]): string {
  for (const candidate of candidates) {
    try {
      makeEnterable(candidate);
      const stat = lstatSync(candidate);
      if (
        stat.isDirectory() &&
        stat.uid === process.getuid?.() &&
        canEnter(operatorOf(candidate), realpathSync(candidate))
      ) {
        return candidate;
      }
    } catch {
      continue; // read-only or closed: the next one
    }
  }
  throw new EmbeddedPostgresError(
    `Postgres does not run as root, and none of ${candidates.join(', ')} can hold its files; start Rollcall as an ordinary user from a directory that is open to it, or set DATABASE_URL to a Postgres server`,
  );
}
