import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Names the run's directory to workers and to every process that the run starts: it is how leaks are recognised. */
export const RUN_VARIABLE = 'ROLLCALL_TEST_RUN';

const PREFIX = 'rollcall-';
/** Holds the pid of the Jest process that the directory belongs to. */
const OWNER = 'owner';

/** Everything that a run puts on disk lies below this directory. */
export function runDirectory(): string {
  const directory = process.env[RUN_VARIABLE];
  if (directory === undefined)
    throw new Error(`${RUN_VARIABLE} is not set: this project of jest.config.js has no global set-up`);
  return directory;
}

/** A fresh directory of this run. The caller removes it; one that stays behind fails the run. */
export function tempDirectory(name: string): string {
  return enterable(mkdtempSync(join(runDirectory(), `${name}-`)));
}

/** A new run's directory. Short, because the path of a unix socket may have 107 bytes; open to the user of Postgres. */
export function createRunDirectory(): string {
  const parent = [tmpdir(), '/tmp', '/var/tmp'].find(isOpenToOthers) ?? tmpdir();
  removeAbandoned(parent);
  const directory = enterable(mkdtempSync(join(parent, PREFIX)));
  writeFileSync(join(directory, OWNER), String(process.pid));
  return directory;
}

/** A run that was killed could not tidy up; its processes ended with it, its directory goes now. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
    try {
      const owner = Number(readFileSync(join(parent, name, OWNER), 'utf8'));
      if (!isAlive(owner)) rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      continue; // not a run's directory, or not ours to remove
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isOpenToOthers(directory: string): boolean {
  const open = ((statSync(directory, { throwIfNoEntry: false })?.mode ?? 0) & 0o001) !== 0;
  return open && (directory === dirname(directory) || isOpenToOthers(dirname(directory)));
}

const ports = (): string => join(runDirectory(), 'ports');

/** Remembers a port that this run opened, for the check at its end. */
export function recordPort(port: number): void {
  appendFileSync(ports(), `${port}\n`);
}

export function recordedPorts(): number[] {
  if (!existsSync(ports())) return [];
  const lines = readFileSync(ports(), 'utf8').split('\n').filter(Boolean);
  return [...new Set(lines.map(Number))];
}

/** Postgres runs under another user when the tests run as root, and must get in. */
function enterable(directory: string): string {
  chmodSync(directory, 0o711);
  return directory;
}
