import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedLog, EmbeddedPostgresError } from './embedded-log.js';

/** What `postmaster.pid` in a data directory says: Postgres writes one field a line. */
export interface PostmasterFile {
  readonly pid: number;
  /** The data directory by its name at that start. */
  readonly dataDirectory: string;
  /** `starting`, `ready`, `stopping` and the like; empty very early. */
  readonly status: string;
}

/** A killed process lingers as a zombie until its parent looks; an init that never looks is not waited for longer. */
const ZOMBIE_PATIENCE_MS = 4_000;

const pathOf = (dataDirectory: string): string => join(dataDirectory, 'postmaster.pid');

export function readPostmasterFile(dataDirectory: string): PostmasterFile | null {
  const text = read(pathOf(dataDirectory));
  const [pid, directory = '', , , , , , status = ''] = text.split('\n');
  const number = Number.parseInt(pid ?? '', 10);
  return number > 0 ? { pid: number, dataDirectory: directory, status: status.trim() } : null;
}

/**
 * Clears the way for a start: the caller holds the lock on this data directory, so a Postgres that still runs on it is
 * what a killed run left behind, and is stopped. A file that names a process which is no Postgres of ours is removed.
 */
export async function clearPredecessor(dataDirectory: string, log: EmbeddedLog): Promise<void> {
  const file = readPostmasterFile(dataDirectory);
  if (file === null || !isRunning(file.pid)) return; // a stale file of a dead process is Postgres' own business
  if (isZombie(file.pid)) {
    await gone(file.pid, ZOMBIE_PATIENCE_MS);
    if (isRunning(file.pid)) rmSync(pathOf(dataDirectory), { force: true });
    return;
  }
  if (!worksOn(file, dataDirectory)) {
    log.info(`postmaster.pid names process ${file.pid}, which is not this Postgres; ignoring it`);
    rmSync(pathOf(dataDirectory), { force: true });
    return;
  }
  log.info(`stopping the Postgres (pid ${file.pid}) that an earlier run left behind`);
  await stopPostmaster(file.pid, log);
}

/** Fast shutdown; if that takes too long an immediate one (recovered at the next start), at last SIGKILL. */
export async function stopPostmaster(pid: number, log: EmbeddedLog): Promise<void> {
  const steps: readonly (readonly [NodeJS.Signals, number])[] = [
    ['SIGINT', 6_000],
    ['SIGQUIT', 2_000],
    ['SIGKILL', 5_000],
  ];
  for (const [signal, patience] of steps) {
    if (signal !== 'SIGINT') log.warn(`Postgres (pid ${pid}) is still there; sending ${signal}`);
    try {
      process.kill(pid, signal);
    } catch {
      return; // it is gone
    }
    if (await gone(pid, patience)) return;
  }
  throw new EmbeddedPostgresError(
    `the Postgres with pid ${pid} could not be stopped; end it by hand and start again`,
  );
}

async function gone(pid: number, patience: number): Promise<boolean> {
  const deadline = performance.now() + patience;
  while (isRunning(pid) && !(isZombie(pid) && performance.now() > deadline - patience / 2)) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isZombie(pid: number): boolean {
  return /^\d+ \(.*\) Z /s.test(read(`/proc/${pid}/stat`));
}

/** Postgres works in its data directory, which tells it apart from whatever got its pid later. */
function worksOn(file: PostmasterFile, dataDirectory: string): boolean {
  if (process.platform === 'linux') {
    try {
      return readlinkSync(`/proc/${file.pid}/cwd`) === realpathSync(dataDirectory);
    } catch {
      return false;
    }
  }
  const listing = spawnSync('ps', ['-o', 'command=', '-p', String(file.pid)], { encoding: 'utf8' });
  return listing.stdout.includes('postgres') && listing.stdout.includes(file.dataDirectory);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
