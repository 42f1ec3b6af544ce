/** Time and chance, as the engine uses them. */
export interface Scheduler {
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
  /** From 0 up to, but without, 1. */
  random(): number;
  /** Runs `work` once. Returns what calls it off. */
  after(milliseconds: number, work: () => void): () => void;
  /** Runs `work` again and again. Returns what calls it off. */
  every(milliseconds: number, work: () => void): () => void;
}

export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  random: () => Math.random(),
  after: (milliseconds, work) => {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
  every: (milliseconds, work) => {
    const timer = setInterval(work, milliseconds);
    return () => clearInterval(timer);
  },
};
