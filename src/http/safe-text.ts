/** NUL, which Postgres cannot store, and lone surrogates, which UTF-8 cannot carry. */
const UNSAFE = /[\0\p{Cs}]/u;

/** Whether a name (id, title, label key) can be stored and compared as it is. */
export function isSafeText(text: string): boolean {
  return !UNSAFE.test(text);
}

/** Whether a text has at most `max` code points: the contract counts these, not UTF-16 units (sessions.md 1.8). */
export function fitsCodePoints(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let count = 0;
  for (const _ of text) {
    count += 1;
    if (count > max) return false;
  }
  return true;
}
