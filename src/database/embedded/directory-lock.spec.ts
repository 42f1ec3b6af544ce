import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryInUseError, lockDirectory } from './directory-lock.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rollcall-lock-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('makes the directory and gives it to one holder at a time', () => {
  const path = join(directory, 'a', 'b');
  const lock = lockDirectory(path);
  expect(() => lockDirectory(path)).toThrow(DirectoryInUseError);
  expect(() => lockDirectory(path)).toThrow(`${path} is in use by another Rollcall (pid ${process.pid})`);
  lock.release();
  lockDirectory(path).release();
});

it('keeps directories apart', () => {
  const one = lockDirectory(join(directory, 'one'));
  const two = lockDirectory(join(directory, 'two'));
  one.release();
  two.release();
  expect(() => lockDirectory(join(directory, 'one')).release()).not.toThrow();
});

it('is not taken away by an attempt that failed', () => {
  const lock = lockDirectory(directory);
  for (let attempt = 0; attempt < 5; attempt += 1)
    expect(() => lockDirectory(directory)).toThrow(DirectoryInUseError);
  lock.release();
});
