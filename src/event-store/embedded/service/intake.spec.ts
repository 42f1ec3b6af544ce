import { expect, it } from '@jest/globals';
import { Intake } from './intake.js';

const MB = 1024 * 1024;

it('input waits while more is unanswered than a node may hold, whoever sent it', async () => {
  const intake = new Intake();
  const answers: (() => void)[] = [];
  const pending = Array.from({ length: 40 }, () =>
    intake.while(MB, new Promise<void>((settle) => answers.push(settle))),
  );
  expect(intake.full).toBe(true);
  let resumed = false;
  const waiting = intake.drained().then(() => (resumed = true));
  for (const answer of answers.splice(0, 4)) answer();
  await Promise.all(pending.slice(0, 4));
  expect(resumed).toBe(false);
  for (const answer of answers) answer();
  await waiting;
  expect(intake.full).toBe(false);
});

it('an append that fails gives back what it held', async () => {
  const intake = new Intake();
  await expect(intake.while(40 * MB, Promise.reject(new Error('the disk is full')))).rejects.toThrow('full');
  expect(intake.full).toBe(false);
});

it('unfinished appends are too much together, though each is small enough', () => {
  const intake = new Intake();
  for (let call = 0; call < 5; call += 1) intake.hold(60 * MB);
  expect(intake.overfull).toBe(true);
  intake.close(60 * MB);
  expect(intake.overfull).toBe(false);
});
