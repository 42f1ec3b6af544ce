import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type EventStoreProcess, startEventStore } from './process/event-store-process.js';
import { type PostgresProcess, startPostgres } from './process/postgres-process.js';
import { type ServerOptions, type ServerProcess, startServer } from './process/server-process.js';
import { runDirectory, tempDirectory } from './run/run-directory.js';
import { unique } from './unique.js';

export interface ExclusiveOptions {
  /** True: fsync on, for suites that kill Postgres and count what survived. */
  readonly durable?: boolean;
}

/**
 * A stack for one suite alone, whose parts can be killed, kept away and started again on their old ports and data.
 * `dispose` in afterAll ends what still runs and removes the data.
 */
export class ExclusiveStack {
  private readonly servers: ServerProcess[] = [];

  private constructor(
    private readonly directory: string,
    private readonly durable: boolean,
    private postgresProcess: PostgresProcess,
    private eventStoreProcess: EventStoreProcess,
  ) {}

  /** Starts Postgres and the event store node; servers come by `startServer`. */
  static async start(options: ExclusiveOptions = {}): Promise<ExclusiveStack> {
    const { durable = false } = options;
    const directory = tempDirectory('exclusive');
    await copyTemplate(join(directory, 'postgres'));
    const [postgres, eventStore] = await Promise.all([
      startPostgres(join(directory, 'postgres'), { durable }),
      startEventStore(join(directory, 'eventstore')),
    ]);
    return new ExclusiveStack(directory, durable, postgres, eventStore);
  }

  get postgres(): PostgresProcess {
    return this.postgresProcess;
  }

  get eventStore(): EventStoreProcess {
    return this.eventStoreProcess;
  }

  get eventStoreDirectory(): string {
    return join(this.directory, 'eventstore');
  }

  get databaseUrl(): string {
    return this.postgresProcess.url;
  }

  get eventStoreUrl(): string {
    return this.eventStoreProcess.url;
  }

  /** A server on this stack's log and database. Several may run at once. */
  async startServer(options: Partial<ServerOptions> = {}): Promise<ServerProcess> {
    const { databaseUrl, eventStoreUrl } = this;
    const server = await startServer({ databaseUrl, eventStoreUrl, ...options });
    this.servers.push(server);
    return server;
  }

  /** Takes Postgres away until `bringPostgres`. */
  async stopPostgres(): Promise<void> {
    await this.postgresProcess.stop();
  }

  async bringPostgres(): Promise<void> {
    const port = Number(new URL(this.databaseUrl).port);
    this.postgresProcess = await startPostgres(join(this.directory, 'postgres'), {
      durable: this.durable,
      port,
    });
  }

  /** Takes the log away, by kill -9, until `bringEventStore`. */
  async killEventStore(): Promise<void> {
    await this.eventStoreProcess.end('SIGKILL');
  }

  async bringEventStore(): Promise<void> {
    this.eventStoreProcess = await startEventStore(
      join(this.directory, 'eventstore'),
      this.eventStoreProcess.port,
    );
  }

  async dispose(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.end('SIGTERM')));
    await Promise.all([this.postgresProcess.stop(), this.eventStoreProcess.end('SIGTERM')]);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Making a database cluster takes a second, copying one a tenth of it: the first suite of a run makes the template. */
async function copyTemplate(target: string): Promise<void> {
  const template = join(runDirectory(), 'template');
  if (!existsSync(template)) {
    const draft = join(runDirectory(), unique('template'));
    await (await startPostgres(draft)).stop();
    renameSync(draft, template);
  }
  const copy = spawnSync('cp', ['-a', template, target], { encoding: 'utf8' });
  if (copy.status !== 0) throw new Error(`copying the template failed: ${copy.stderr}`);
}
