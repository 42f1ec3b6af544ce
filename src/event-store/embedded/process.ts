import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EmbeddedEventStore } from './index.js';
import { removePidFile, writePidFile } from './pid-file.js';

interface ProcessOptions {
  readonly dir: string;
  readonly port: number;
}

function readOptions(args: readonly string[]): ProcessOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { dir: { type: 'string' }, port: { type: 'string', default: '0' } },
  });
  const port = Number(values.port);
  if (values.dir === undefined || values.dir === '') throw new Error('--dir <directory> is missing');
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port} is no port`);
  return { dir: resolve(values.dir), port };
}

function fail(error: unknown): never {
  process.stderr.write(`event store: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

const REPORT_EVERY_MS = 500;

/** Tells a supervisor that waits what a long start is at. A short one has nothing to tell. */
function startReporter(): (doing: string) => void {
  let reported = Date.now();
  return (starting) => {
    if (process.send === undefined || !process.connected || Date.now() - reported < REPORT_EVERY_MS) return;
    reported = Date.now();
    process.send({ starting }, () => undefined);
  };
}

/** Entry of the child process: one node on one directory until SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const { dir, port } = readOptions(process.argv.slice(2));
  const store = await EmbeddedEventStore.start({
    dir,
    port,
    onStarting: startReporter(),
    // A node that still checks its log can be an orphan already.
    onOwned: (token) => writePidFile(dir, { pid: process.pid, port: 0, token }),
  }).catch((error: unknown) => {
    removePidFile(dir, process.pid);
    throw error;
  });
  // Who met the damage hears of it before the node goes.
  void store.damaged.then(async (error) => {
    await store.close();
    removePidFile(dir, process.pid);
    fail(error);
  });

  const stop = (): void => {
    removePidFile(dir, process.pid);
    store.close().then(() => process.exit(0), fail);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);

  writePidFile(dir, { pid: process.pid, port: store.port, token: store.token });
  const ready = { ready: true, port: store.port, pid: process.pid };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  if (process.send !== undefined) {
    // The supervisor hears it over IPC; the channel goes at once, so that its death means nothing here.
    // A supervisor that died before it heard has closed the channel already, and that is an error to close again.
    process.send(ready, () => {
      if (process.connected) process.disconnect();
    });
  }
}

main().catch(fail);
