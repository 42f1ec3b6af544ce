const OTHER_WEIGHT = 8;

const known = new WeakMap<object, number>();

/** About how many bytes a JSON value takes; looked at once for each object. At least 1. */
export function weightOfJson(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length + 1;
  if (typeof value !== 'object' || value === null) return OTHER_WEIGHT;
  let weight = known.get(value);
  if (weight === undefined) {
    weight = 2 * JSON.stringify(value).length;
    known.set(value, weight);
  }
  return weight;
}
