import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { root } from './project.mjs';

/** Runs Node with these arguments in the project, passes SIGINT and SIGTERM on, and gives back the exit code. */
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
    const done = (settle, value) => {
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
      settle(value);
    };
    child.once('error', (error) => done(reject, error));
    child.once('exit', (code, signal) => done(resolve, code ?? 128 + constants.signals[signal]));
  });
}
