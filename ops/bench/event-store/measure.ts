/** One line of the result. `ratio` is value / limit, both measured in this run. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly limit?: { readonly what: string; readonly value: number };
  readonly ratio?: number;
}

export function row(what: string, value: number, unit: string, limit?: Row['limit']): Row {
  const rounded = { what, value: round(value), unit };
  if (limit === undefined) return rounded;
  return {
    ...rounded,
    limit: { what: limit.what, value: round(limit.value) },
    ratio: round(value / limit.value),
  };
}

function round(value: number): number {
  const scale = 10 ** Math.max(0, 3 - Math.ceil(Math.log10(Math.abs(value) || 1)));
  return Math.round(value * scale) / scale;
}

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
