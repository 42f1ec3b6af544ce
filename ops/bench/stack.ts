import { fork, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres.js';
import { superviseEmbeddedEventStore } from '../../src/event-store/embedded/supervisor.js';

const SERVER = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const quiet = (): void => undefined;

export interface BenchServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Log and Postgres as `npm start` runs them, durable, in a directory of their own; servers come and go on them. */
export class BenchStack {
  private constructor(
    private readonly directory: string,
    readonly eventStoreUrl: string,
    readonly databaseUrl: string,
    private readonly parts: readonly { stop(): Promise<void> }[],
  ) {}

  static async start(): Promise<BenchStack> {
    const directory = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
    // Postgres runs under another user when this runs as root, and mkdtemp closes its directories to others.
    chmodSync(directory, 0o711);
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const postgres = await EmbeddedPostgres.start({ dir: join(directory, 'postgres'), log, durable: true });
    const node = await superviseEmbeddedEventStore({ dir: join(directory, 'eventstore'), log: quiet });
    return new BenchStack(directory, node.connectionString, postgres.url, [node, postgres]);
  }

  async startServer(): Promise<BenchServer> {
    const env = {
      ...process.env,
      PORT: '0',
      LOG_LEVEL: 'silent',
      EVENTSTORE_URL: this.eventStoreUrl,
      DATABASE_URL: this.databaseUrl,
    };
    const child = fork(SERVER, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const port = await ready(child);
    return { port, stop: () => stopped(child) };
  }

  async stop(): Promise<void> {
    for (const part of this.parts) await part.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function ready(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: { port: number }) => resolve(message.port));
    child.once('exit', (code) =>
      reject(new Error(`the server ended with ${String(code)} before it was ready`)),
    );
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
