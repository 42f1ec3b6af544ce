import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Exit, type LaunchOptions, type Launched, launch } from './launched.js';

export interface StartOptions extends LaunchOptions {
  readonly args?: readonly string[];
}

export interface StartedProcess<Ready> extends Launched {
  /** The message `{type: 'ready', …}` by which it said that it runs. */
  readonly ready: Ready;
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
  const launched = launchScript(script, options);
  const timer = setTimeout(() => launched.child.kill('SIGKILL'), READY_WITHIN_MS);
  try {
    const ready = await Promise.race([readyMessage<Ready>(launched), launched.exited]);
    if (!isExit(ready)) return { ...launched, ready };
    throw new Error(
      `${options.name} ended (${ready.code ?? ready.signal}) before it was ready:\n${launched.output()}`,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a script of the build to its end. */
export async function runProcess(
  script: string,
  options: StartOptions,
): Promise<Exit & { readonly output: string }> {
  const launched = launchScript(script, options);
  const timer = setTimeout(() => launched.child.kill('SIGKILL'), READY_WITHIN_MS);
  const exit = await launched.exited;
  clearTimeout(timer);
  return { ...exit, output: launched.output() };
}

/** Starts a script of the build, or of another one by its whole path, and waits for nothing. */
export function launchScript(script: string, options: StartOptions): Launched {
  const project = projectDirectory();
  const args = ['--enable-source-maps', resolve(project, 'dist', script), ...(options.args ?? [])];
  return launch(args, { cwd: project, ...options });
}

function readyMessage<Ready>({ child }: Launched): Promise<Ready> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && Reflect.get(message, 'type') === 'ready') resolve(message as Ready);
    });
  });
}

function isExit(value: unknown): value is Exit {
  return typeof value === 'object' && value !== null && 'signal' in value && 'code' in value;
}
