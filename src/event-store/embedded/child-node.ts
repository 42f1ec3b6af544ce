import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, openSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastLine } from './log-tail.js';

const LOG_FILE = 'eventstore.log';
const LOG_LIMIT = 4 * 1024 * 1024;

export interface ChildNode {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** How it ended: a signal or an exit code. */
  readonly exited: Promise<string>;
}

export interface ChildNodeOptions {
  readonly dir: string;
  readonly port: number;
  /** A node that starts says what it is at; one that says nothing for this long is taken for dead. */
  readonly silentForMs: number;
  /** Gives the start up. */
  readonly signal: AbortSignal;
  /** Told what a long start is at. */
  readonly log: (line: string) => void;
}

/**
 * Spawned detached and without pipes: this process's end must not reach the node. Waits for as long as the node has
 * work to do before it serves. Rejects with the node's own words.
 */
export async function startChildNode(options: ChildNodeOptions): Promise<ChildNode> {
  const logFile = join(options.dir, LOG_FILE);
  const output = openLog(logFile);
  const begin = statSync(logFile).size;
  const entry = fileURLToPath(new URL('./process.js', import.meta.url));
  const child = spawn(process.execPath, [entry, '--dir', options.dir, '--port', String(options.port)], {
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
    env: childEnvironment(process.env),
  });
  closeSync(output);
  const exited = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message));
    child.once('exit', (code, signal) => settle(signal ?? `exit ${code}`));
  });
  const outcome = await firstReport(child, exited, options);
  child.unref();
  const { pid } = child;
  if (typeof outcome === 'string' || pid === undefined) {
    child.kill('SIGKILL');
    throw new Error(`the node did not start: ${lastLine(logFile, begin) ?? outcome}`);
  }
  return { child, pid, port: outcome, exited };
}

/** The port, or why there is none. */
export function firstReport(
  child: ChildProcess,
  exited: Promise<string>,
  { silentForMs, signal, log }: Pick<ChildNodeOptions, 'silentForMs' | 'signal' | 'log'>,
): Promise<number | string> {
  return new Promise((settle) => {
    const silence = setTimeout(() => end(`it said nothing for ${silentForMs} ms`), silentForMs);
    const giveUp = (): void => end('its start was given up');
    const end = (outcome: number | string): void => {
      clearTimeout(silence);
      signal.removeEventListener('abort', giveUp);
      settle(outcome);
    };
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    void exited.then(end);
    child.on('message', (message: object) => {
      if ('port' in message) return end(Number(message.port));
      silence.refresh();
      if ('starting' in message) log(`event store: ${String(message.starting)}`);
    });
  });
}

/**
 * Without what is meant for this process: its flags, and certificates, which a node without TLS would load at every
 * start, or complain of in its log when they cannot be read.
 */
function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _flags, NODE_EXTRA_CA_CERTS: _certificates, ...rest } = env;
  return rest;
}

function openLog(file: string): number {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT) truncateSync(file);
  return openSync(file, 'a', 0o600);
}
