import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BootstrapError, say } from './say.mjs';

const PATIENCE_MS = 10 * 60_000;
const ENTRY = /^(\d+)-(\d+)$/;

/**
 * Runs `work` while no other process does so under the same directory.
 *
 * Each contender announces itself by a file of its own, then looks: alone, it holds the mutex; otherwise it
 * withdraws and tries again. Since everybody announces before looking, two can never both see themselves alone.
 * A file names its process and that process's start, so what a killed one left behind is never mistaken for a
 * live holder, and removing it can never remove somebody else's claim.
 */
export async function exclusively(directory, work) {
  mkdirSync(directory, { recursive: true });
  const mine = `${process.pid}-${startOf(process.pid)}`;
  const path = join(directory, mine);
  const deadline = Date.now() + PATIENCE_MS;
  let told = false;
  for (;;) {
    writeFileSync(path, '');
    const others = readdirSync(directory).filter((name) => name !== mine && isAlive(directory, name));
    if (others.length === 0) break;
    rmSync(path, { force: true });
    if (Date.now() > deadline) {
      throw new BootstrapError(
        `another run (pid ${others[0].split('-')[0]}) holds ${directory} for 10 minutes; end it and try again.`,
      );
    }
    if (!told)
      say(`waiting for another run (pid ${others[0].split('-')[0]}) to finish installing or building`);
    told = true;
    await delay(50 + Math.random() * 200);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function isAlive(directory, name) {
  const match = ENTRY.exec(name);
  if (match !== null && startOf(match[1]) === match[2] && exists(Number(match[1]))) return true;
  rmSync(join(directory, name), { force: true });
  return false;
}

function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The process's start in clock ticks where the system tells it (Linux), else 0: a pid alone has to do there. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return '0';
  }
}
