import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordPort } from '../run/run-directory.js';
import { type StartOptions, type StartedProcess, startProcess } from './started-process.js';

export interface PostgresProcess {
  /** Of the program that starts and watches Postgres. */
  readonly host: StartedProcess<{ readonly url: string; readonly pid: number }>;
  readonly url: string;
  /** Of the postmaster that runs now. */
  pid(): number;
  stop(): Promise<void>;
}

export interface PostgresOptions extends Partial<StartOptions> {
  readonly durable?: boolean;
  readonly shelters?: readonly string[];
}

/** Starts a Postgres of its own on `directory`. Fsync is off unless asked for. */
export async function startPostgres(
  directory: string,
  options: PostgresOptions = {},
): Promise<PostgresProcess> {
  const { durable = false, shelters = [], ...rest } = options;
  const host = await startProcess<{ url: string; pid: number }>('test/support/process/postgres-host.js', {
    name: 'postgres',
    ...rest,
    args: [directory, durable ? 'durable' : 'volatile', ...shelters],
  });
  recordPort(Number(new URL(host.ready.url).port));
  return {
    host,
    url: host.ready.url,
    pid: () => Number.parseInt(readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8'), 10),
    stop: async () => void (await host.end('SIGTERM')),
  };
}
