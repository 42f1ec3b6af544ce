import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StartedProcess, startProcess } from '../process/started-process.js';
import { STACK_VARIABLE, type Stack } from '../stack.js';
import { findLeaks } from './leaks.js';
import { RUN_VARIABLE, createRunDirectory, runDirectory } from './run-directory.js';

/** The projects of jest.config.js that are in the run: several share one directory and one check. */
const inside = new Set<string>();
let sharedStack: StartedProcess<{ readonly stack: Stack }> | null = null;

/** Global set-up of one project. Only the black-box suites have the shared stack. */
export async function enter(project: string): Promise<void> {
  if (inside.size === 0) process.env[RUN_VARIABLE] = createRunDirectory();
  inside.add(project);
  if (project === 'blackbox') await startSharedStack();
}

/** Global tear-down of one project; the last one checks that nothing is left, and fails the run otherwise. */
export async function leave(project: string): Promise<void> {
  if (project === 'blackbox') await sharedStack?.end('SIGTERM');
  inside.delete(project);
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
