const MAX_TEXT = 1_000;
const MAX_JSON = 4_000;
const MAX_DEPTH = 4;

/** The refused input as the answer repeats it: whole when small, cut or null when not. */
export function echo(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'string') return value.length <= MAX_TEXT ? value : `${value.slice(0, MAX_TEXT)}…`;
  if (typeof value !== 'object' || value === null) return value;
  return measure(value, MAX_JSON, MAX_DEPTH) < 0 ? null : value;
}

/** What is left of a budget of characters after writing the value; negative when it does not fit. */
function measure(value: unknown, budget: number, depth: number): number {
  if (typeof value === 'string') return budget - value.length;
  if (typeof value !== 'object' || value === null) return budget - 8;
  if (depth === 0) return -1;
  let left = budget;
  for (const [key, member] of Object.entries(value)) {
    left = measure(member, left - key.length - 4, depth - 1);
    if (left < 0) return left;
  }
  return left;
}
