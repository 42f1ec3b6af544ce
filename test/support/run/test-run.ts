import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StartedProcess, startProcess } from '../process/started-process.js';
import { STACK_VARIABLE, type Stack } from '../stack.js';
import { findLeaks } from './leaks.js';
import { RUN_VARIABLE, createRunDirectory, runDirectory } from './run-directory.js';

/** With `black-box` comes the shared stack. */
export type Part = 'processes' | 'black-box';

/** The parts of this Jest run that are set up: they share one directory and one check at the end. */
const inside = new Set<Part>();
let sharedStack: StartedProcess<{ readonly stack: Stack }> | null = null;

/** Global set-up of the projects of one part. */
export async function enter(part: Part): Promise<void> {
  if (inside.size === 0) process.env[RUN_VARIABLE] = createRunDirectory();
  inside.add(part);
  if (part === 'black-box') await startSharedStack();
}

/** Global tear-down; the last one checks that nothing is left, and fails the run otherwise. */
export async function leave(part: Part): Promise<void> {
  if (part === 'black-box') await sharedStack?.end('SIGTERM');
  inside.delete(part);
  if (inside.size > 0) return;
  const leaks = await findLeaks();
  const directory = runDirectory();
  delete process.env[RUN_VARIABLE];
  if (leaks.length > 0) {
    throw new Error(`the run left something behind (logs in ${directory}):\n  ${leaks.join('\n  ')}`);
  }
  rmSync(directory, { recursive: true, force: true });
}

async function startSharedStack(): Promise<void> {
  const file = join(runDirectory(), 'stack.json');
  sharedStack = await startProcess('test/support/run/shared-stack-host.js', { name: 'shared-stack' });
  writeFileSync(file, JSON.stringify(sharedStack.ready.stack), { mode: 0o600 });
  process.env[STACK_VARIABLE] = file;
}
