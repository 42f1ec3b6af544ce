import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { until } from '../until.js';
import { recordedPorts, runDirectory } from './run-directory.js';

/** What a run itself keeps in its directory; anything else is something that a spec forgot to remove. */
const OWN_FILES = /^(owner|ports|stack\.json|.*\.log|shared|template)$/;

/** A process that was told to end may need a moment; one that needs longer is a leak. */
const GRACE_MS = 5_000;

/** Lines that name what the run left behind: processes, open ports, files. Empty when it was clean. */
export async function findLeaks(grace = GRACE_MS): Promise<string[]> {
  await until('the processes of the run to end', () => leakedProcesses().length === 0, {
    within: grace,
    every: 50,
  }).catch(() => undefined);
  const ports = await Promise.all(
    recordedPorts().map(async (port) => ((await isOpen(port)) ? [`port ${port} is still open`] : [])),
  );
  const files = readdirSync(runDirectory()).filter((name) => !OWN_FILES.test(name));
  return [
    ...leakedProcesses(),
    ...ports.flat(),
    ...files.map((name) => `left in the run directory: ${name}`),
  ];
}

/** Looks through /proc for processes that carry the run's directory in their environment or command line. */
function leakedProcesses(): string[] {
  const mark = runDirectory();
  return processIds().flatMap((pid) => {
    if (pid === process.pid || isZombie(pid)) return [];
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    if (isJestWorker(command)) return [];
    const marked = command.includes(mark) || read(`/proc/${pid}/environ`).includes(mark);
    return marked ? [`process ${pid} still runs: ${command.slice(0, 200)}`] : [];
  });
}

/** Jest ends its workers itself, before or after the tear-down. */
function isJestWorker(command: string): boolean {
  return command.includes('jest-worker');
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return []; // no /proc on this system: ports and files are still looked at
  }
}

function isZombie(pid: number): boolean {
  return / Z /.test(read(`/proc/${pid}/stat`).slice(0, 80));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const settle = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
