import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.js';
import { binary } from './distribution.js';
import { type EmbeddedLog, EmbeddedPostgresError } from './embedded-log.js';
import { as } from './operator.js';
import type { Place } from './place.js';
import { clearPredecessor, readPostmasterFile } from './postmaster-file.js';

/** Recovery of a database after a crash may replay a long log. */
const READY_WITHIN_MS = 120_000;
/** For what passes by itself: a zombie of the predecessor, its last back ends, a port taken meanwhile. */
const START_PATIENCE_MS = 15_000;
const PASSES_BY_ITSELF =
  /lock file .* already exists|pre-existing shared memory block|could not bind|is already in use/i;
const COMPLAINT_LINES = 20;

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the process has ended, with what it said last. */
  readonly ended: Promise<string>;
}

export interface StartOptions {
  readonly place: Place;
  readonly cluster: Cluster;
  readonly durable: boolean;
  /** Null takes any free port. */
  readonly port: number | null;
  readonly log: EmbeddedLog;
  /** Gives up waiting, and takes back what was started. */
  readonly signal?: AbortSignal;
}

/** Starts Postgres and resolves when it accepts connections. What passes by itself is waited for, a bounded time. */
export async function startPostmaster(options: StartOptions): Promise<Postmaster> {
  const deadline = performance.now() + START_PATIENCE_MS;
  for (;;) {
    await clearPredecessor(options.cluster.dataDirectory, options.log);
    const attempt = await tryStart(options);
    if (typeof attempt !== 'string') return attempt;
    if (!PASSES_BY_ITSELF.test(attempt) || performance.now() > deadline || options.signal?.aborted === true) {
      throw new EmbeddedPostgresError(`Postgres did not start: ${attempt}`);
    }
    await delay(200);
  }
}

async function tryStart(options: StartOptions): Promise<Postmaster | string> {
  const { place, cluster, durable, port: wanted, log, signal } = options;
  const port = wanted ?? (await freePort());
  const child = spawn(
    binary(place.distribution, 'postgres'),
    ['-D', cluster.dataDirectory, ...settings(port, durable)],
    {
      ...as(place.operator),
      cwd: '/',
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'] },
      stdio: ['ignore', 'ignore', 'pipe'],
      // Its own process group: Ctrl-C in a terminal must reach the server first, which then stops Postgres.
      detached: true,
    },
  );
  const ended = outcome(child, log);
  const running = { over: false };
  void ended.then(() => (running.over = true));
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!running.over) {
    const file = readPostmasterFile(cluster.dataDirectory);
    if (file !== null && file.pid === child.pid && file.status === 'ready')
      return { pid: file.pid, port, ended };
    if (performance.now() > deadline || signal?.aborted === true) {
      child.kill('SIGQUIT');
      return `given up before it was ready; it ${await ended}`;
    }
    await delay(15);
  }
  return ended;
}

function settings(port: number, durable: boolean): string[] {
  const values: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Follows what Postgres says, and resolves with the last of it when it has ended. */
function outcome(child: ChildProcess, log: EmbeddedLog): Promise<string> {
  const last: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      last.push(line);
      if (last.length > COMPLAINT_LINES) last.shift();
      if (line.includes('PANIC:')) log.error(`postgres: ${line}`);
      else log.debug(`postgres: ${line}`);
    });
  }
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      const complaints = last.filter((line) =>
        /(FATAL|PANIC|HINT|DETAIL|ERROR):|error while loading/.test(line),
      );
      resolve([`ended with ${code ?? signal}`, ...complaints.slice(-4)].join('; '));
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
