import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentArguments } from './environment.mjs';
import { inProject } from './project.mjs';

let directory;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rollcall-environment-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a file of variables is read when it is there', () => {
  const file = join(directory, '.env');
  expect(environmentArguments(file)).toEqual([]);
  writeFileSync(file, 'PORT=1\n');
  expect(environmentArguments(file)).toEqual([`--env-file=${file}`]);
});

it('no target runs a built program past it', () => {
  const targets = readFileSync(inProject('scripts', 'run.mjs'), 'utf8');
  expect(targets.match(/runNode\(/g)).toHaveLength(1);
  expect(targets).toMatch(/runNode\(\[[^\]]*environmentArguments/);
});
