import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startChildNode } from './child-node.js';
import { stopOrphan, stopProcess } from './orphan.js';

export interface SuperviseOptions {
  readonly dir: string;
  /** 0 or none: the first start picks a free one, and every later start keeps it. */
  readonly port?: number;
  /** Told of starts, long checks, deaths and restarts, one line each. */
  readonly log: (line: string) => void;
  /** Gives the first start up. */
  readonly signal?: AbortSignal;
  /** How long a starting node may say nothing. It says what it is at all the while, however long that takes. */
  readonly silentForMs?: number;
}

export interface SupervisedEventStore {
  readonly connectionString: string;
  pid(): number;
  stop(): Promise<void>;
}

const SILENT_FOR_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A node that lived this long has started well: the next pause is the first again. */
const SETTLED_AFTER_MS = 10_000;
const STOP_WITHIN_MS = 5_000;

/**
 * Runs the node as a process of its own, which outlives this one, and starts it again on the same port when it
 * dies. An orphan that a killed parent left behind on this directory is stopped first. Rejects with the node's
 * own words when the first start fails. A start takes as long as the node has to check its log.
 */
export async function superviseEmbeddedEventStore(options: SuperviseOptions): Promise<SupervisedEventStore> {
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await stopOrphan(dir, options.log);
  const { log, silentForMs = SILENT_FOR_MS } = options;
  const stopping = new AbortController();
  const firstStart = options.signal ?? stopping.signal;
  let running = await startChildNode({ dir, port: options.port ?? 0, silentForMs, signal: firstStart, log });
  const { port } = running;
  log(`event store: pid ${running.pid} on port ${port}`);

  const watch = async (): Promise<void> => {
    let pause = FIRST_PAUSE_MS;
    let startedAt = Date.now();
    for (;;) {
      const how = await running.exited;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > SETTLED_AFTER_MS) pause = FIRST_PAUSE_MS;
      log(`event store: pid ${running.pid} ended (${how}), starting again`);
      for (;;) {
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
        try {
          running = await startChildNode({ dir, port, silentForMs, signal: stopping.signal, log });
          break;
        } catch (error) {
          log(`event store: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      startedAt = Date.now();
      log(`event store: pid ${running.pid} on port ${port}`);
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
