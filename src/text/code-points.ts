/** Whether a text has at most `max` code points: the contract counts these, not UTF-16 units (`contract/sessions.md` 1.8). */
export function fitsCodePoints(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  return firstCodePoints(text, max).length === text.length;
}

/** The text cut to `max` code points; never inside a surrogate pair, never walking more than it keeps. */
export function firstCodePoints(text: string, max: number): string {
  if (text.length <= max) return text;
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('');
}

/** As `firstCodePoints`; what was cut ends in an ellipsis, which counts. */
export function abbreviated(text: string, max: number): string {
  return fitsCodePoints(text, max) ? text : `${firstCodePoints(text, max - 1)}…`;
}
