import { expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { runDirectory } from '../support/run/run-directory.js';

it('a run has a directory of its own', () => {
  expect(existsSync(runDirectory())).toBe(true);
});
