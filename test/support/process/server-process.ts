import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { recordPort, runDirectory } from '../run/run-directory.js';
import { unique } from '../unique.js';
import { type StartOptions, type StartedProcess, startProcess } from './started-process.js';

export interface ServerOptions extends Partial<StartOptions> {
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  /** Of another build, by its whole path. */
  readonly script?: string;
}

export interface ServerProcess extends StartedProcess<{ readonly port: number }> {
  readonly url: string;
  readonly controlSocket: string;
}

/** Starts a Rollcall server on the given log and database, on any free port unless `env.PORT` names one. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { eventStoreUrl, databaseUrl, script = 'src/main.js', env, ...rest } = options;
  const controlSocket = join(runDirectory(), `${unique('c')}.sock`);
  const started = await startProcess<{ port: number }>(script, {
    name: 'server',
    ...rest,
    env: {
      PORT: '0',
      EVENTSTORE_URL: eventStoreUrl,
      DATABASE_URL: databaseUrl,
      ROLLCALL_CONTROL_SOCKET: controlSocket,
      ...env,
    },
  });
  recordPort(started.ready.port);
  // A server that is killed leaves its socket behind.
  void started.exited.then(() => rmSync(controlSocket, { force: true }));
  return { ...started, url: `http://127.0.0.1:${started.ready.port}`, controlSocket };
}
