/** A commit position of the log: an int64, never negative. On the wire always a decimal string. */
export type Position = bigint;

const POSITION = /^(?:0|[1-9][0-9]{0,18})$/;
const MAX_INT64 = 9_223_372_036_854_775_807n;

/** Reads the decimal form; null for anything else (leading zeros, signs, blanks, beyond int64). */
export function parsePosition(text: string): Position | null {
  if (!POSITION.test(text)) return null;
  const position = BigInt(text);
  return position <= MAX_INT64 ? position : null;
}

export function formatPosition(position: Position): string {
  return position.toString();
}
