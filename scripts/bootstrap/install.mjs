import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inProject } from './project.mjs';
import { BootstrapError, say } from './say.mjs';

/** In node_modules on purpose: whatever wipes the packages wipes the claim that they are there. */
const marker = inProject('node_modules', '.rollcall-installed');
const npmRecord = inProject('node_modules', '.package-lock.json');
const lockFile = inProject('package-lock.json');

/** True when node_modules holds what package-lock.json asks for. */
export function isInstalled() {
  if (!existsSync(npmRecord)) return false;
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lockHash()) return true;
  return holds(
    JSON.parse(readFileSync(npmRecord, 'utf8')).packages,
    JSON.parse(readFileSync(lockFile, 'utf8')).packages,
  );
}

export function ensureInstalled() {
  if (isInstalled()) return;
  say('installing packages (npm ci); only the first time, or when the lock file has changed');
  const npm = npmCommand();
  const run = spawnSync(
    npm.command,
    [...npm.args, 'ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: inProject(),
      stdio: ['ignore', 2, 2],
      shell: npm.shell,
      env: { ...process.env, NODE_ENV: 'development' },
    },
  );
  if (run.status !== 0) {
    throw new BootstrapError(
      existsSync(npmRecord)
        ? 'npm ci failed (see above).'
        : 'the packages could not be installed (see above). The first run needs the npm registry; later runs work offline.',
    );
  }
  writeFileSync(marker, lockHash());
}

/** Whether npm's own record of node_modules satisfies the lock: same versions, nothing missing that this machine needs. */
export function holds(installed, locked) {
  return Object.entries(locked).every(([path, wanted]) => {
    if (path === '' || wanted.link === true) return true;
    const found = installed[path];
    return found === undefined ? wanted.optional === true : found.version === wanted.version;
  });
}

function lockHash() {
  return createHash('sha256').update(readFileSync(lockFile)).digest('hex');
}

/** The npm that started us when there is one, else the one on the PATH. */
function npmCommand() {
  const path = process.env.npm_execpath;
  if (path !== undefined && /npm-cli\.c?js$/.test(path))
    return { command: process.execPath, args: [path], shell: false };
  return { command: 'npm', args: [], shell: process.platform === 'win32' };
}
