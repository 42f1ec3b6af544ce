import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readPidFile, removePidFile } from './pid-file.js';

const POLL_MS = 20;
const STOP_WITHIN_MS = 3_000;

/**
 * Stops the node that a killed parent left running on this directory. A process is ours only if the pid file
 * names it and its own command line runs this node on this very directory: pids are reused.
 */
export async function stopOrphan(dir: string, log: (line: string) => void): Promise<void> {
  const record = readPidFile(dir);
  if (record === undefined) return;
  if (isNodeFor(dir, record.pid)) {
    log(`event store: stopping pid ${record.pid}, left running on ${dir}`);
    await stopProcess(record.pid, STOP_WITHIN_MS);
  }
  removePidFile(dir, record.pid);
}

/** SIGTERM, then SIGKILL when it takes longer than `milliseconds`; resolves when the process is gone. */
export async function stopProcess(pid: number, milliseconds: number): Promise<void> {
  signal(pid, 'SIGTERM');
  const until = Date.now() + milliseconds;
  while (isAlive(pid)) {
    if (Date.now() > until) signal(pid, 'SIGKILL');
    await delay(POLL_MS);
  }
}

function isNodeFor(dir: string, pid: number): boolean {
  const command = commandLine(pid);
  return command.includes('embedded/process.js') && command.includes(`--dir ${dir} --port`);
}

/** The arguments joined by blanks, or nothing when there is no such process. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return process.platform === 'linux' ? '' : commandLineFromPs(pid);
  }
}

function commandLineFromPs(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-ww', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

/** A zombie, which only waits for its parent to notice, has let go of the file and counts as gone. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}
