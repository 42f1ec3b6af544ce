import { spawnSync } from 'node:child_process';
import { chownSync, cpSync, lchownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Launched, type LaunchOptions, launch } from './launched.js';
import { projectDirectory } from './started-process.js';
import { until } from '../until.js';

const NOT_SOURCE = new Set(['node_modules', 'dist', '.git', '.rollcall', '.bootstrap', 'coverage', '.env']);

/** A copy of the checkout as a clone would be, without packages and build. */
export function copySources(target: string): void {
  const project = projectDirectory();
  for (const name of readdirSync(project)) {
    if (!NOT_SOURCE.has(name)) cpSync(join(project, name), join(target, name), { recursive: true });
  }
}

/** Adds the installed packages: hard links where the disk allows it, which takes a moment instead of half a minute. */
export function copyPackages(target: string): void {
  const from = join(projectDirectory(), 'node_modules');
  const linked = spawnSync('cp', ['-al', from, target], { stdio: 'ignore' });
  if (linked.status === 0) return;
  const copied = spawnSync('cp', ['-a', from, target], { encoding: 'utf8' });
  if (copied.status !== 0) throw new Error(`copying node_modules failed: ${copied.stderr}`);
}

/** Gives a checkout to another user, except for its packages, whose files are shared with ours. */
export function giveTo(target: string, owner: { readonly uid: number; readonly gid: number }): void {
  chownSync(target, owner.uid, owner.gid);
  for (const entry of readdirSync(target, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!path.startsWith(join(target, 'node_modules'))) lchownSync(path, owner.uid, owner.gid);
  }
}

/** `node scripts/run.mjs <target>` in a checkout, as npm's scripts run it. */
export function runScript(checkout: string, target: string, options: Partial<LaunchOptions> = {}): Launched {
  return launch(['scripts/run.mjs', target], {
    name: `run-${target.replaceAll(':', '-')}`,
    ...options,
    cwd: checkout,
    env: { PORT: '0', ...options.env },
  });
}

/** The address that a started `npm start` prints. */
export async function addressOf(started: Launched): Promise<string> {
  const ended = { yet: false };
  void started.exited.then(() => (ended.yet = true));
  const address = await until(
    'Rollcall to listen',
    () => (ended.yet ? 'ended' : /Rollcall listens on (http:\S+)/.exec(started.output())?.[1]),
    { within: 60_000, every: 50 },
  );
  if (address === 'ended') throw new Error(`it ended:\n${started.output()}`);
  return address;
}
