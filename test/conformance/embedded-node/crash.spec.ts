import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { temporaryDirectory } from '../event-store-under-test.js';
import { CrashRounds } from './crash-rounds.js';

/** A hundred rounds take minutes: they belong to a release, five to every run. */
const ROUNDS = Number(
  process.env['ROLLCALL_CRASH_ROUNDS'] ?? (process.env['ROLLCALL_LONG'] === '1' ? 100 : 5),
);
const WRITERS = 30;

let dir: string;
beforeAll(() => {
  dir = temporaryDirectory();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('a node killed at any instant under load', () => {
  it(
    `loses, doubles and reorders nothing in ${ROUNDS} rounds`,
    async () => {
      const rounds = new CrashRounds(dir, WRITERS);
      for (let round = 0; round < ROUNDS; round += 1) await rounds.run();
      const report = await rounds.check();
      expect(report.problems).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(ROUNDS * WRITERS);
      expect(report.uncertain).toBeGreaterThan(0);
      process.stdout.write(`crash rounds: ${JSON.stringify(report)}\n`);
    },
    30_000 + ROUNDS * 10_000,
  );
});
