import { join } from 'node:path';
import { ConfigError, type Config } from '../config/config.js';
import { DirectoryInUseError, lockDirectory } from '../database/embedded/directory-lock.js';
import type { EmbeddedLog } from '../database/embedded/embedded-log.js';
import { EmbeddedPostgres } from '../database/embedded/embedded-postgres.js';
import { superviseEmbeddedEventStore } from '../event-store/embedded/supervisor.js';
import { readAddresses, removeAddresses, writeAddresses, type Stores } from './addresses.js';
import type { Layers } from './layers.js';

/**
 * Starts what the configuration leaves to Rollcall, and leaves word of it for commands in other processes. The signal
 * gives up a start that waits for the event store to check a long log.
 */
export async function startStores(
  config: Config,
  log: EmbeddedLog,
  layers: Layers,
  signal?: AbortSignal,
): Promise<Stores> {
  const { dataDir } = config;
  const embeds = config.eventStoreUrl === null || config.databaseUrl === null;
  if (embeds) layers.push([lockData(config)]);
  const started: (() => Promise<void>)[] = [];
  layers.push(started);
  const [eventStoreUrl, databaseUrl] = await both(
    eventStore(config, log, started, signal),
    database(config, log, started),
  );
  const stores = { eventStoreUrl, databaseUrl };
  if (embeds) {
    writeAddresses(dataDir, stores);
    layers.push([() => removeAddresses(dataDir)]);
  }
  return stores;
}

/**
 * The stores for a command of the command line: those that are configured, those of a server that runs on the same data
 * directory, or else embedded ones that `startStores` starts for it. Throws `DirectoryInUseError` when another process
 * has the directory and has not started its stores.
 */
export async function findStores(config: Config, log: EmbeddedLog, layers: Layers): Promise<Stores> {
  try {
    return await startStores(config, log, layers);
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    const running = readAddresses(config.dataDir, error.pid);
    if (running === null) throw error;
    return running;
  }
}

/** Takes the data directory for this process. Throws `DirectoryInUseError`, or `ConfigError` where there can be none. */
function lockData({ dataDir }: Config): () => void {
  try {
    const lock = lockDirectory(dataDir);
    return () => lock.release();
  } catch (error) {
    if (error instanceof DirectoryInUseError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError('ROLLCALL_DATA_DIR', `must be a directory that can be made and written: ${why}`);
  }
}

async function eventStore(
  config: Config,
  log: EmbeddedLog,
  started: (() => Promise<void>)[],
  signal: AbortSignal | undefined,
): Promise<string> {
  if (config.eventStoreUrl !== null) return config.eventStoreUrl;
  const dir = join(config.dataDir, 'eventstore');
  const node = await superviseEmbeddedEventStore({
    dir,
    log: (line) => log.info(line),
    ...(signal === undefined ? {} : { signal }),
  });
  started.push(() => node.stop());
  return node.connectionString;
}

async function database(config: Config, log: EmbeddedLog, started: (() => Promise<void>)[]): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl;
  const postgres = await EmbeddedPostgres.start({
    dir: join(config.dataDir, 'postgres'),
    log,
    durable: true,
    ...(config.shelterDir === null ? {} : { shelters: [config.shelterDir] }),
  });
  started.push(() => postgres.stop());
  return postgres.url;
}

/** As Promise.all, but waits for both, so that nothing is still starting when the failure of one is handled. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}
