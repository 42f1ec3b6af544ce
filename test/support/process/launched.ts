import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runDirectory } from '../run/run-directory.js';
import { unique } from '../unique.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LaunchOptions {
  /** Part of the log file's name. */
  readonly name: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

export interface Launched {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** What it has printed so far, both streams. */
  output(): string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

/** Starts Node with these arguments, its output in a file of the run, an IPC channel open. */
export function launch(args: readonly string[], options: LaunchOptions): Launched {
  const logFile = join(runDirectory(), `${unique(options.name)}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, args, {
    cwd: options.cwd,
    env: environment(options.env ?? {}),
    stdio: ['ignore', log, log, 'ipc'],
    uid: options.uid,
    gid: options.gid,
  });
  closeSync(log);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  return {
    child,
    pid: child.pid ?? 0,
    exited,
    output: () => readFileSync(logFile, 'utf8'),
    end: async (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

/** Nothing of Jest's, and nothing of the developer's own Rollcall. The run's mark lets a leak be recognised. */
function environment(own: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, ROLLCALL_TEST_RUN } = process.env;
  return { PATH, HOME, TMPDIR, ROLLCALL_TEST_RUN, NODE_ENV: 'test', ...own };
}
