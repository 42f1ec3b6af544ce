import type { Machine, Simulator } from './simulator.js';

export type Answer<T> = (outcome: { readonly value: T } | { readonly error: Error }) => void;

export interface Call<T> {
  readonly machine: Machine;
  readonly what: string;
  readonly hole: () => boolean;
  /** Milliseconds after which the caller gives up. */
  readonly limit: number;
  /** On the other side. It may answer at once, later or never. */
  readonly work: (answer: Answer<T>) => void;
}

/** A request and its answer. Both may be swallowed; then the caller hears of it by the limit of time alone. */
export function roundTrip<T>(
  simulator: Simulator,
  { machine, what, hole, limit, work }: Call<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const callOff = simulator.after(limit, machine, `${what} took too long`, () =>
      reject(new Error(`no answer to ${what} in time`)),
    );
    if (hole()) return;
    simulator.after(simulator.latency(), null, `${machine.name} asks: ${what}`, () => {
      work((outcome) => {
        if (hole()) return;
        simulator.after(simulator.latency(), machine, `is answered: ${what}`, () => {
          callOff();
          if ('value' in outcome) resolve(outcome.value);
          else reject(outcome.error);
        });
      });
    });
  });
}
