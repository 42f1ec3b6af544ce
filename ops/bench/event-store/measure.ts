/** The value below which the given part of the samples lies. */
export function percentile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Runs `count` pieces of work, `inFlight` at a time; answers pieces a second and the time of each. */
export async function load(count: number, inFlight: number, work: () => Promise<unknown>) {
  const times: number[] = [];
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      times.push(await milliseconds(work));
    }
  };
  const total = await milliseconds(() => Promise.all(Array.from({ length: inFlight }, worker)));
  return { perSecond: (count / total) * 1000, times };
}
