import { ConfigError, type Config, loadConfig, redacted } from './config/config.js';
import { EmbeddedPostgresError } from './database/embedded/embedded-log.js';
import { DirectoryInUseError } from './database/embedded/directory-lock.js';
import { type Application, startApplication } from './process/application.js';
import { comesFromEventStoreClient } from './process/client-rejection.js';
import { consoleLog } from './process/console-log.js';

/** Stopping is promised within 10 s; what hangs then is left to the next start, which recovers. */
const STOP_WITHIN_MS = 9_500;

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = consoleLog(config.logLevel);
  log.debug(`configuration ${JSON.stringify(redacted(config))}`);
  const stopped = new AbortController();
  // Not before the handlers below are in place: a signal must find everything that has been started.
  const starting = Promise.resolve().then(() => startApplication(config, log, stopped.signal));

  const stop = (exitCode: number): void => {
    if (stopped.signal.aborted) return;
    stopped.abort();
    // Not unref'd: what is waited for while stopping may hold no handle of its own.
    setTimeout(() => {
      log.error('did not stop in time; leaving as it is');
      process.exit(exitCode === 0 ? 1 : exitCode);
    }, STOP_WITHIN_MS);
    void starting
      .then(async (application) => application.stop())
      .catch(() => undefined) // a start that was given up has cleaned up after itself
      .then(() => process.exit(exitCode));
  };

  process.on('SIGINT', () => stop(0));
  process.on('SIGTERM', () => stop(0));
  // Servers that the tests start end with them, however those end.
  if (process.env['NODE_ENV'] === 'test') process.on('disconnect', () => stop(0));
  process.on('unhandledRejection', (reason) => {
    if (comesFromEventStoreClient(reason))
      return log.warn(`the event store client lost a call: ${String(reason)}`);
    log.error(
      `unhandled rejection: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`,
    );
    stop(1);
  });
  process.on('uncaughtException', (error) => {
    log.error(`uncaught exception: ${error.stack ?? error.message}`);
    stop(1);
  });

  try {
    announce(config, await starting);
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
  }
}

function announce(config: Config, { port }: Application): void {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  process.stdout.write(`Rollcall listens on http://${host}:${port}\n`);
  process.send?.({ type: 'ready', port });
}

/** A refused connection is an AggregateError without a text of its own. */
function firstLine(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(firstLine).join('; ');
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}

function report(error: unknown): void {
  const expected =
    error instanceof ConfigError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof DirectoryInUseError;
  process.stderr.write(`rollcall: ${expected ? '' : 'could not start: '}${firstLine(error)}\n`);
}

try {
  await main();
} catch (error) {
  report(error);
  process.exit(1);
}
