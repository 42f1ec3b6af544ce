import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { recordPort } from '../run/run-directory.js';
import { type StartOptions, type StartedProcess, startProcess } from './started-process.js';

/** Rollcall as `npm start` runs it: everything embedded, three processes. */
export interface WholeProcess extends StartedProcess<{ readonly port: number }> {
  readonly url: string;
  postgresPid(): number;
  eventStorePid(): number;
  databaseUrl(): string;
  eventStoreUrl(): string;
}

export async function startWhole(
  dataDir: string,
  options: Partial<StartOptions> = {},
): Promise<WholeProcess> {
  const started = await startProcess<{ port: number }>('src/main.js', {
    name: 'whole',
    ...options,
    env: { ROLLCALL_DATA_DIR: dataDir, PORT: '0', ...options.env },
  });
  const postmaster = (): string[] =>
    readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n');
  const password = readFileSync(join(dataDir, 'postgres', 'password'), 'utf8').trim();
  const eventStore = (): { pid: number; port: number } => lastStart(started.output());
  for (const port of [started.ready.port, Number(postmaster()[3]), eventStore().port]) recordPort(port);
  return {
    ...started,
    url: `http://127.0.0.1:${started.ready.port}`,
    postgresPid: () => Number(postmaster()[0]),
    eventStorePid: () => eventStore().pid,
    databaseUrl: () => `postgresql://rollcall:${password}@127.0.0.1:${postmaster()[3]}/rollcall`,
    eventStoreUrl: () => `esdb://127.0.0.1:${eventStore().port}?tls=false`,
  };
}

/** What the supervisor said when it last started the node. */
function lastStart(output: string): { pid: number; port: number } {
  const starts = [...output.matchAll(/event store: pid (\d+) on port (\d+)/g)];
  const [, pid, port] = starts.at(-1) ?? [];
  return { pid: Number(pid), port: Number(port) };
}

/** Processes whose command line or working directory mentions a directory: what runs on its data. */
export function processesOn(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandOf(pid).includes(directory));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
