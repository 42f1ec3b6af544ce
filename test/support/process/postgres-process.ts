import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordPort, runDirectory } from '../run/run-directory.js';
import { type StartOptions, type StartedProcess, startProcess } from './started-process.js';

export interface PostgresProcess {
  /** Of the program that starts and watches Postgres. */
  readonly host: StartedProcess<{ readonly url: string }>;
  readonly url: string;
  /** Of the postmaster that runs now. */
  pid(): number;
  /** Kills Postgres alone; its watcher starts it again on the same port. */
  kill(): void;
  stop(): Promise<void>;
}

export interface PostgresOptions extends Partial<StartOptions> {
  readonly durable?: boolean;
  readonly port?: number;
  readonly shelters?: readonly string[];
}

/** Starts a Postgres of its own on `directory`. Fsync is off unless asked for. */
export async function startPostgres(
  directory: string,
  options: PostgresOptions = {},
): Promise<PostgresProcess> {
  const { durable = false, port = 0, shelters = [join(runDirectory(), 'shelter')], ...rest } = options;
  const host = await startProcess<{ url: string }>('test/support/process/postgres-host.js', {
    name: 'postgres',
    ...rest,
    args: [directory, durable ? 'durable' : 'volatile', String(port), ...shelters],
  });
  recordPort(Number(new URL(host.ready.url).port));
  const pid = (): number =>
    Number.parseInt(readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8'), 10);
  return {
    host,
    url: host.ready.url,
    pid,
    kill: () => void process.kill(pid(), 'SIGKILL'),
    stop: async () => void (await host.end('SIGTERM')),
  };
}
