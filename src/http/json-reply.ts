/** JSON.stringify escapes a surrogate only when it is unpaired, and NUL always. */
const NEEDS_REPAIR = /\\u(?:d[89a-f]|0000)/;
const UNSHOWABLE = /[\0\p{Cs}]/gu;
const REPLACEMENT = '\ufffd';

/**
 * The JSON text of an answer: bigints as decimal strings, NUL and unpaired surrogates as U+FFFD.
 * The plain JSON.stringify comes first; only the rare value that needs more is written twice.
 */
export function replyJson(payload: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch (error) {
    // A bigint, or a cycle: the second attempt throws again for the latter.
    if (!(error instanceof TypeError)) throw error;
    text = JSON.stringify(payload, bigintAsText);
  }
  if (text === undefined) return 'null';
  return NEEDS_REPAIR.test(text) ? JSON.stringify(repaired(JSON.parse(text))) : text;
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return showable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(repaired);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [showable(key), repaired(member)]));
}

function showable(text: string): string {
  return text.replace(UNSHOWABLE, REPLACEMENT);
}
