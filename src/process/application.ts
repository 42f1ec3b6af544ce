import { join } from 'node:path';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigError, type Config } from '../config/config.js';
import { DirectoryInUseError, lockDirectory } from '../database/embedded/directory-lock.js';
import type { EmbeddedLog } from '../database/embedded/embedded-log.js';
import { EmbeddedPostgres } from '../database/embedded/embedded-postgres.js';
import { superviseEmbeddedEventStore } from '../event-store/embedded/supervisor.js';
import { startServer } from '../server.js';

export interface Application {
  readonly port: number;
  /** The server first, then what it stands on. Repeated calls give the same promise. */
  stop(): Promise<void>;
}

/** Something that runs and must be stopped, in layers: a layer stops when those above it have. */
type Stop = () => Promise<void> | void;

/**
 * Starts what the configuration asks for, from the ground up. When a part fails, or the start is given up by the signal,
 * what has started is stopped again and the promise rejects.
 */
export async function startApplication(
  config: Config,
  log: EmbeddedLog,
  signal: AbortSignal,
): Promise<Application> {
  const layers: Stop[][] = [];
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopping ??= stopLayers(layers, log));
  try {
    await checkBeforehand(config);
    if (config.eventStoreUrl === null || config.databaseUrl === null) layers.push([lockData(config)]);
    const stores: Stop[] = [];
    layers.push(stores);
    const [eventStoreUrl, databaseUrl] = await both(
      eventStore(config, log, stores),
      database(config, log, stores),
    );
    signal.throwIfAborted();
    const server = await startServer({ config, eventStoreUrl, databaseUrl });
    layers.push([() => server.close()]);
    signal.throwIfAborted();
    return { port: server.port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Work on the database alone, while no server uses it: the embedded Postgres is started for it and stopped again. */
export async function withDatabase<T>(
  config: Config,
  log: EmbeddedLog,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const layers: Stop[][] = [];
  try {
    if (config.databaseUrl === null) layers.push([lockData(config)]);
    const stores: Stop[] = [];
    layers.push(stores);
    return await work(await database(config, log, stores));
  } finally {
    await stopLayers(layers, log);
  }
}

/** What can be known before anything starts is said before anything starts. Throws `ConfigError`. */
async function checkBeforehand({ host, port, eventStoreUrl }: Config): Promise<void> {
  const { NODE_ENV, ROLLCALL_EMBEDDED_FORCE } = process.env;
  if (eventStoreUrl === null && NODE_ENV === 'production' && ROLLCALL_EMBEDDED_FORCE !== '1') {
    throw new ConfigError('EVENTSTORE_URL', 'must name an EventStoreDB while NODE_ENV is production');
  }
  if (port !== 0 && (await isTaken(host, port))) {
    throw new ConfigError('PORT', `must be a free port (or 0 for any), ${port} is taken on ${host}`);
  }
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return false;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return true;
    throw error;
  } finally {
    probe.close();
  }
}

/** Takes the data directory for this process. Throws `DirectoryInUseError`, or `ConfigError` where there can be none. */
function lockData({ dataDir }: Config): Stop {
  try {
    const lock = lockDirectory(dataDir);
    return () => lock.release();
  } catch (error) {
    if (error instanceof DirectoryInUseError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError('ROLLCALL_DATA_DIR', `must be a directory that can be made and written: ${why}`);
  }
}

async function eventStore(config: Config, log: EmbeddedLog, stores: Stop[]): Promise<string> {
  if (config.eventStoreUrl !== null) return config.eventStoreUrl;
  const dir = join(config.dataDir, 'eventstore');
  const node = await superviseEmbeddedEventStore({ dir, log: (line) => log.info(line) });
  stores.push(() => node.stop());
  return node.connectionString;
}

async function database(config: Config, log: EmbeddedLog, stores: Stop[]): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl;
  const postgres = await EmbeddedPostgres.start({
    dir: join(config.dataDir, 'postgres'),
    log,
    durable: true,
    ...(config.shelterDir === null ? {} : { shelters: [config.shelterDir] }),
  });
  stores.push(() => postgres.stop());
  return postgres.url;
}

/** As Promise.all, but waits for both, so that nothing is still starting when the failure of one is handled. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}

async function stopLayers(layers: readonly Stop[][], log: EmbeddedLog): Promise<void> {
  for (const layer of layers.toReversed()) {
    const results = await Promise.allSettled(layer.map(async (stop) => stop()));
    for (const result of results) {
      if (result.status === 'rejected') log.error(`while stopping: ${String(result.reason)}`);
    }
  }
}
