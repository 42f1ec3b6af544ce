import { rmSync } from 'node:fs';
import { findLeaks } from './leaks.js';
import { RUN_VARIABLE, createRunDirectory, runDirectory } from './run-directory.js';

/** The projects of jest.config.js that are in the run: several share one directory and one check. */
const inside = new Set<string>();

/** Global set-up of one project. */
export async function enter(project: string): Promise<void> {
  if (inside.size === 0) process.env[RUN_VARIABLE] = createRunDirectory();
  inside.add(project);
}

/** Global tear-down of one project; the last one checks that nothing is left, and fails the run otherwise. */
export async function leave(project: string): Promise<void> {
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
