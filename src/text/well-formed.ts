const REPLACEMENT = '\uFFFD';

/** True when Postgres and strict JSON readers can hold the text: no NUL, no lone surrogate. */
export function isSafeText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The text as every surface shows it: NUL and lone surrogates become U+FFFD (design 13.11). */
export function toSafeText(text: string): string {
  return isSafeText(text) ? text : text.toWellFormed().replaceAll('\0', REPLACEMENT);
}

/** Deep `toSafeText` over JSON values, keys included. Returns the same reference when nothing had to change. */
export function toSafeJson<T>(value: T): T {
  return isSafeJson(value) ? value : (safe(value) as T);
}

/** Nearly every value is safe, so it is looked through first without making anything. */
function isSafeJson(value: unknown): boolean {
  if (typeof value === 'string') return isSafeText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSafeJson);
  const members = value as Record<string, unknown>;
  for (const key in members) {
    if (!isSafeText(key) || !isSafeJson(members[key])) return false;
  }
  return true;
}

function safe(value: unknown): unknown {
  if (typeof value === 'string') return toSafeText(value);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? safeArray(value) : safeObject(value);
}

function safeArray(items: unknown[]): unknown[] {
  let copy: unknown[] | undefined;
  items.forEach((item, index) => {
    const next = safe(item);
    if (next !== item) {
      copy ??= [...items];
      copy[index] = next;
    }
  });
  return copy ?? items;
}

function safeObject(source: object): object {
  let changed = false;
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(source)) {
    const safeKey = toSafeText(key);
    const next = safe(value);
    if (safeKey !== key || next !== value) changed = true;
    entries.push([safeKey, next]);
  }
  // fromEntries defines own properties, so a `__proto__` key stays data.
  return changed ? Object.fromEntries(entries) : source;
}
