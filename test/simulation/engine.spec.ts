import { expect, it, jest } from '@jest/globals';
import { Simulation } from './simulation.js';

jest.setTimeout(1_800_000);

/** The same seeds each time, so that a failure is the change's; the long form looks at new ones. */
const USUAL = { first: 1, count: 250 };
const LONG_COUNT = 3_000;

function seeds(): number[] {
  const { ROLLCALL_SEED, ROLLCALL_LONG } = process.env;
  if (ROLLCALL_SEED !== undefined) return [Number(ROLLCALL_SEED)];
  const { first, count } = ROLLCALL_LONG === '1' ? { first: Date.now() % 1e9, count: LONG_COUNT } : USUAL;
  return Array.from({ length: count }, (_, index) => first + index);
}

it('whatever goes wrong, the rows are those of a straight fold up to the checkpoint, and the head is reached', async () => {
  for (const seed of seeds()) await expect(new Simulation(seed).run()).resolves.toBeUndefined();
});

it('a seed repeats its run exactly', async () => {
  const [seed = 1] = seeds();
  const runs = [new Simulation(seed), new Simulation(seed)] as const;
  for (const run of runs) await run.run();
  expect(runs[1].simulator.history).toEqual(runs[0].simulator.history);
});
