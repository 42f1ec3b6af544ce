import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigError, type Config } from '../config/config.js';
import type { EmbeddedLog } from '../database/embedded/embedded-log.js';
import { startServer } from '../server.js';
import { type Layers, stopLayers } from './layers.js';
import { startStores } from './stores.js';

export interface Application {
  readonly port: number;
  /** The server first, then what it stands on. Repeated calls give the same promise. */
  stop(): Promise<void>;
}

/**
 * Starts what the configuration asks for, from the ground up. When a part fails, or the start is given up by the signal,
 * what has started is stopped again and the promise rejects.
 */
export async function startApplication(
  config: Config,
  log: EmbeddedLog,
  signal: AbortSignal,
): Promise<Application> {
  const layers: Layers = [];
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopping ??= stopLayers(layers, log));
  try {
    await checkBeforehand(config);
    const stores = await startStores(config, log, layers, signal);
    signal.throwIfAborted();
    const server = await startServer({ config, ...stores });
    layers.push([() => server.close()]);
    signal.throwIfAborted();
    return { port: server.port, stop };
  } catch (error) {
    await stop();
    throw error;
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
