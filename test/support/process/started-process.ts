import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runDirectory } from '../run/run-directory.js';
import { unique } from '../unique.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** Part of the log file's name. */
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
  readonly cwd?: string;
}

export interface StartedProcess<Ready> {
  readonly pid: number;
  /** The message `{type: 'ready', …}` by which it said that it runs. */
  readonly ready: Ready;
  readonly exited: Promise<Exit>;
  /** What it has printed so far, both streams. */
  output(): string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

const READY_WITHIN_MS = 60_000;

/** The checkout, seen from the sources and from the build alike. */
export function projectDirectory(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory);
  return directory;
}

/** Starts a script of the build and waits for its `ready`. A script that ends before rejects with what it printed. */
export async function startProcess<Ready>(
  script: string,
  options: StartOptions,
): Promise<StartedProcess<Ready>> {
  const child = launch(script, options);
  const timer = setTimeout(() => child.process.kill('SIGKILL'), READY_WITHIN_MS);
  try {
    const ready = await Promise.race([readyMessage<Ready>(child.process), child.exited]);
    if (isExit(ready)) {
      throw new Error(
        `${options.name} ended (${ready.code ?? ready.signal}) before it was ready:\n${child.output()}`,
      );
    }
    return { ...child, ready };
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a script of the build to its end. */
export async function runProcess(
  script: string,
  options: StartOptions,
): Promise<Exit & { readonly output: string }> {
  const child = launch(script, options);
  const timer = setTimeout(() => child.process.kill('SIGKILL'), READY_WITHIN_MS);
  const exit = await child.exited;
  clearTimeout(timer);
  return { ...exit, output: child.output() };
}

function launch(script: string, options: StartOptions) {
  const logFile = join(runDirectory(), `${unique(options.name)}.log`);
  const log = openSync(logFile, 'a');
  const child = fork(join(projectDirectory(), 'dist', script), options.args ?? [], {
    cwd: options.cwd ?? projectDirectory(),
    env: environment(options.env ?? {}),
    execArgv: ['--enable-source-maps'],
    stdio: ['ignore', log, log, 'ipc'],
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  closeSync(log);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  return {
    process: child,
    pid: child.pid ?? 0,
    exited,
    output: () => readFileSync(logFile, 'utf8'),
    end: async (signal: NodeJS.Signals): Promise<Exit> => {
      child.kill(signal);
      return exited;
    },
  };
}

/** Nothing of Jest's, and nothing of the developer's own Rollcall. The run's mark comes along by its prefix. */
function environment(own: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, ROLLCALL_TEST_RUN, ROLLCALL_LONG } = process.env;
  return { PATH, HOME, TMPDIR, ROLLCALL_TEST_RUN, ROLLCALL_LONG, NODE_ENV: 'test', ...own };
}

function readyMessage<Ready>(child: ChildProcess): Promise<Ready> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && Reflect.get(message, 'type') === 'ready') resolve(message as Ready);
    });
  });
}

function isExit(value: unknown): value is Exit {
  return typeof value === 'object' && value !== null && 'signal' in value && 'code' in value;
}
