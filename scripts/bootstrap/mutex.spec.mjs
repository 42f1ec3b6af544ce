import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

let directory;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rollcall-mutex-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Notes when it is in and when it is out; two that overlap would interleave their notes. */
const contender = `
  import { appendFileSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  import { exclusively } from ${JSON.stringify(resolve('scripts/bootstrap/mutex.mjs'))};
  const [directory, log] = process.argv.slice(1);
  await exclusively(directory, async () => {
    appendFileSync(log, 'in ' + process.pid + '\\n');
    await delay(20);
    appendFileSync(log, 'out ' + process.pid + '\\n');
  });`;

const arguments_ = (log) => ['--input-type=module', '-e', contender, join(directory, 'lock'), log];

it('lets contenders in one after the other', async () => {
  const log = join(directory, 'log');
  writeFileSync(log, '');
  const contenders = Array.from({ length: 6 }, () =>
    spawn(process.execPath, arguments_(log), { stdio: 'ignore' }),
  );
  const exits = await Promise.all(contenders.map(async (child) => (await once(child, 'exit'))[0]));
  expect(exits).toEqual([0, 0, 0, 0, 0, 0]);
  const notes = readFileSync(log, 'utf8').trim().split('\n');
  const pairs = notes
    .filter((_note, index) => index % 2 === 0)
    .map((note, index) => [note, notes[index * 2 + 1]]);
  expect(pairs).toHaveLength(6);
  for (const [enters, leaves] of pairs) expect(leaves).toBe(enters.replace('in', 'out'));
  expect(readdirSync(join(directory, 'lock'))).toEqual([]);
});

it('is not held by a process that was killed', () => {
  const log = join(directory, 'log');
  spawnSync(process.execPath, [
    '--input-type=module',
    '-e',
    `import { exclusively } from ${JSON.stringify(resolve('scripts/bootstrap/mutex.mjs'))};
     await exclusively(${JSON.stringify(join(directory, 'lock'))}, () => process.kill(process.pid, 'SIGKILL'));`,
  ]);
  expect(readdirSync(join(directory, 'lock'))).toHaveLength(1);
  expect(spawnSync(process.execPath, arguments_(log)).status).toBe(0);
  expect(readdirSync(join(directory, 'lock'))).toEqual([]);
});
