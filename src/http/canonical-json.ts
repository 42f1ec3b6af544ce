import { createHash } from 'node:crypto';

/**
 * JSON with sorted keys and no blanks: equal for two bodies that differ only in the order of their keys.
 * Members that are undefined are left out, as JSON.stringify does; a bigint is written as a string.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return `"${value}"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: string[] = [];
  for (const [key, member] of Object.entries(value).sort(byKey)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** SHA-256 of the canonical form, lowercase hex: what an idempotency key is compared by. */
export function bodyHash(body: unknown): string {
  return createHash('sha256').update(canonicalJson(body)).digest('hex');
}

/** By UTF-16 code unit, so independent of any locale. */
function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
