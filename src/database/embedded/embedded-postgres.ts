import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { type Cluster, SUPERUSER, openCluster } from './cluster.js';
import { type DirectoryLock, lockDirectory } from './directory-lock.js';
import { findDistribution } from './distribution.js';
import type { EmbeddedLog } from './embedded-log.js';
import { type Place, settle } from './place.js';
import { type Postmaster, startPostmaster } from './postmaster.js';
import { stopPostmaster } from './postmaster-file.js';

export interface EmbeddedPostgresOptions {
  /** Where the data goes; made when missing. */
  readonly dir: string;
  readonly log: EmbeddedLog;
  /** False turns fsync off: for tests only. */
  readonly durable: boolean;
  /** Any free port when not given. */
  readonly port?: number;
  /** Where root shelters what Postgres' user cannot reach, in order of preference. */
  readonly shelters?: readonly string[];
}

const DATABASE = 'rollcall';
const UNKNOWN_DATABASE = '3D000';
const DUPLICATE_DATABASE = '42P04';
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A Postgres that ran this long before it ended starts the pauses anew. */
const STEADY_MS = 10_000;

/** A Postgres that Rollcall starts, watches, starts again when it dies, and stops. One process per directory. */
export class EmbeddedPostgres {
  private stopping: Promise<void> | null = null;
  private restarting: Promise<void> = Promise.resolve();
  private readonly abandon = new AbortController();
  private readonly onExit = (): void => void this.interrupt();

  private constructor(
    private readonly place: Place,
    private readonly cluster: Cluster,
    private readonly lock: DirectoryLock,
    private readonly options: EmbeddedPostgresOptions,
    private postmaster: Postmaster,
  ) {
    process.once('exit', this.onExit);
    this.watch(postmaster, FIRST_PAUSE_MS);
  }

  /**
   * Resolves when the database accepts connections. Rejects with EmbeddedPostgresError (a sentence for the user) or
   * DirectoryInUseError.
   */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const { dir, log, durable, port = null, shelters } = options;
    const place = settle(dir, findDistribution(), log, shelters);
    const lock = lockDirectory(place.home);
    try {
      const cluster = await openCluster(place, durable, log);
      const postmaster = await startPostmaster({ place, cluster, durable, port, log });
      const running = new EmbeddedPostgres(place, cluster, lock, options, postmaster);
      try {
        await ensureDatabase(running.url);
      } catch (error) {
        await running.stop();
        throw error;
      }
      log.info(`Postgres ${place.distribution.major} is ready on 127.0.0.1:${postmaster.port}`);
      return running;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The connection string. It holds the password and stays the same over restarts. */
  get url(): string {
    return urlOf(this.cluster.password, this.postmaster.port, DATABASE);
  }

  /** Of the process that runs now, or ran last. */
  pid(): number {
    return this.postmaster.pid;
  }

  /** Ends connections and stops. Repeated calls give the same promise. */
  stop(): Promise<void> {
    this.stopping ??= this.shutDown();
    return this.stopping;
  }

  private async shutDown(): Promise<void> {
    process.off('exit', this.onExit);
    this.abandon.abort();
    try {
      await this.restarting;
      await stopPostmaster(this.postmaster.pid, this.options.log);
      await this.postmaster.ended;
    } finally {
      this.lock.release();
    }
  }

  private watch(postmaster: Postmaster, pause: number): void {
    const since = performance.now();
    void postmaster.ended.then((why) => {
      if (this.stopping !== null) return;
      this.options.log.warn(`Postgres ${why}; starting it again`);
      this.restarting = this.restart(performance.now() - since > STEADY_MS ? FIRST_PAUSE_MS : pause);
    });
  }

  /** Until it runs again, always on the port that clients know. */
  private async restart(firstPause: number): Promise<void> {
    const { place, cluster } = this;
    const { durable, log } = this.options;
    const { signal } = this.abandon;
    for (let pause = firstPause; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await delay(pause, undefined, { signal });
        this.postmaster = await startPostmaster({
          place,
          cluster,
          durable,
          port: this.postmaster.port,
          log,
          signal,
        });
        log.info('Postgres is ready again');
        this.watch(this.postmaster, Math.min(pause * 2, LONGEST_PAUSE_MS));
        return;
      } catch (error) {
        if (!signal.aborted) log.error(error instanceof Error ? error.message : String(error));
      }
    }
  }

  private interrupt(): void {
    try {
      process.kill(this.postmaster.pid, 'SIGINT');
    } catch {
      // it has ended already
    }
  }
}

async function ensureDatabase(url: string): Promise<void> {
  try {
    await withClient(url, async () => undefined);
  } catch (error) {
    if (!hasCode(error, UNKNOWN_DATABASE)) throw error;
    const maintenance = new URL(url);
    maintenance.pathname = '/postgres';
    await withClient(maintenance.href, async (client) => {
      await client.query(`CREATE DATABASE ${DATABASE}`).catch((problem: unknown) => {
        if (!hasCode(problem, DUPLICATE_DATABASE)) throw problem;
      });
    });
  }
}

async function withClient(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // a lost connection also rejects the query in hand
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof DatabaseError && error.code === code;
}

function urlOf(password: string, port: number, database: string): string {
  return `postgresql://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}
