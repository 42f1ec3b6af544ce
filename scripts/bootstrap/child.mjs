import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { clearInterval, setInterval } from 'node:timers';
import { root } from './project.mjs';

const ORPHAN_CHECK_MS = 250;

/**
 * A SIGTERM to `npm start` reaches the shell that npm runs the script in; a shell that does not pass it on dies alone
 * and leaves its child to run for ever. Calls back once when that has happened; answers how to stop watching.
 */
function onOrphaned(callback) {
  if (process.env.npm_lifecycle_event === undefined) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, ORPHAN_CHECK_MS);
  return () => clearInterval(timer);
}

/** Runs Node with these arguments in the project, passes SIGINT and SIGTERM on, stops it when npm's shell is gone, and gives back the exit code. */
export function runNode(args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env },
    });
    const forward = (signal) => child.kill(signal);
    process.on('SIGINT', forward);
    process.on('SIGTERM', forward);
    const unwatch = onOrphaned(() => child.kill('SIGTERM'));
    const done = (settle, value) => {
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
      unwatch();
      settle(value);
    };
    child.once('error', (error) => done(reject, error));
    child.once('exit', (code, signal) => done(resolve, code ?? 128 + constants.signals[signal]));
  });
}
