import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { lockDirectory } from '../database/embedded/directory-lock.js';
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
    if (config.eventStoreUrl === null || config.databaseUrl === null) {
      const lock = lockDirectory(config.dataDir);
      layers.push([() => lock.release()]);
    }
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
    if (config.databaseUrl === null) {
      const lock = lockDirectory(config.dataDir);
      layers.push([() => lock.release()]);
    }
    const stores: Stop[] = [];
    layers.push(stores);
    return await work(await database(config, log, stores));
  } finally {
    await stopLayers(layers, log);
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
