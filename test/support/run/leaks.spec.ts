import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findLeaks } from './leaks.js';
import { RUN_VARIABLE, recordPort, runDirectory } from './run-directory.js';

/** A run inside the run: what is planted here must be found here, and be gone before the outer check. */
const outer = process.env[RUN_VARIABLE];
let inner: string;

beforeEach(() => {
  inner = mkdtempSync(join(runDirectory(), 'inner-'));
  process.env[RUN_VARIABLE] = inner;
});

afterEach(() => {
  process.env[RUN_VARIABLE] = outer;
  rmSync(inner, { recursive: true, force: true });
});

it('finds nothing after a clean run', async () => {
  mkdirSync(join(inner, 'shared'));
  writeFileSync(join(inner, 'server-1.log'), '');
  expect(await findLeaks(100)).toEqual([]);
});

it('finds a process, a port and a file that were left', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    env: { PATH: process.env['PATH'], [RUN_VARIABLE]: inner },
    stdio: 'ignore',
  });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  recordPort(port);
  mkdirSync(join(inner, 'forgotten'));
  try {
    const leaks = await findLeaks(100);
    expect(leaks).toEqual([
      expect.stringContaining(`process ${child.pid} still runs`),
      `port ${port} is still open`,
      'left in the run directory: forgotten',
    ]);
  } finally {
    server.close();
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
