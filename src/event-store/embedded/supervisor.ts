import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync, truncateSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { stopOrphan, stopProcess } from './orphan.js';
import { lastLine } from './log-tail.js';

export interface SuperviseOptions {
  readonly dir: string;
  /** 0 or none: the first start picks a free one, and every later start keeps it. */
  readonly port?: number;
  /** Told of starts, deaths and restarts, one line each. */
  readonly log: (line: string) => void;
}

export interface SupervisedEventStore {
  readonly connectionString: string;
  pid(): number;
  stop(): Promise<void>;
}

const LOG_FILE = 'eventstore.log';
const LOG_LIMIT = 4 * 1024 * 1024;
const READY_WITHIN_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A node that lived this long has started well: the next pause is the first again. */
const SETTLED_AFTER_MS = 10_000;
const STOP_WITHIN_MS = 5_000;

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly exited: Promise<string>;
}

/**
 * Runs the node as a process of its own, which outlives this one, and starts it again on the same port when it
 * dies. An orphan that a killed parent left behind on this directory is stopped first. Rejects with the node's
 * own words when the first start fails.
 */
export async function superviseEmbeddedEventStore(options: SuperviseOptions): Promise<SupervisedEventStore> {
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await stopOrphan(dir, options.log);
  let running = await startNode(dir, options.port ?? 0);
  const { port } = running;
  const stopping = new AbortController();
  options.log(`event store: pid ${running.pid} on port ${port}`);

  const watch = async (): Promise<void> => {
    let pause = FIRST_PAUSE_MS;
    let startedAt = Date.now();
    for (;;) {
      const how = await running.exited;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > SETTLED_AFTER_MS) pause = FIRST_PAUSE_MS;
      options.log(`event store: pid ${running.pid} ended (${how}), starting again`);
      for (;;) {
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
        try {
          running = await startNode(dir, port);
          break;
        } catch (error) {
          options.log(`event store: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      startedAt = Date.now();
      options.log(`event store: pid ${running.pid} on port ${port}`);
      // A stop that came while the node was starting.
      if (stopping.signal.aborted) await stopProcess(running.pid, STOP_WITHIN_MS);
    }
  };
  const watching = watch();

  return {
    connectionString: `esdb://127.0.0.1:${port}?tls=false`,
    pid: () => running.pid,
    stop: async () => {
      stopping.abort();
      // A child that ended has given its pid back, and it may be a stranger's by now.
      if (running.child.exitCode === null && running.child.signalCode === null) {
        // Its end is waited for: an unreferenced child would let this process leave in the middle.
        running.child.ref();
        await stopProcess(running.pid, STOP_WITHIN_MS);
      }
      await watching;
    },
  };
}

/** Spawned detached and without pipes: this process's end must not reach the node. */
async function startNode(dir: string, port: number): Promise<Running> {
  const logFile = join(dir, LOG_FILE);
  const output = openLog(logFile);
  const entry = fileURLToPath(new URL('./process.js', import.meta.url));
  const child = spawn(process.execPath, [entry, '--dir', dir, '--port', String(port)], {
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  closeSync(output);
  const exited = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message));
    child.once('exit', (code, signal) => settle(signal ?? `exit ${code}`));
  });
  const ready = new Promise<number>((settle) => {
    child.on('message', (message: unknown) => {
      if (typeof message === 'object' && message !== null && 'port' in message) settle(Number(message.port));
    });
  });
  const late = new AbortController();
  const outcome = await Promise.race([
    ready,
    exited,
    delay(READY_WITHIN_MS, 'not ready in time', { ref: false, signal: late.signal }),
  ]);
  late.abort();
  child.unref();
  const { pid } = child;
  if (typeof outcome === 'string' || pid === undefined) {
    child.kill('SIGKILL');
    throw new Error(`the node did not start: ${lastLine(logFile) ?? outcome}`);
  }
  return { child, pid, port: outcome, exited };
}

function openLog(file: string): number {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT) truncateSync(file);
  return openSync(file, 'a', 0o600);
}
