import { isUtf8 } from 'node:buffer';
import type { DetailEntry } from './errors.js';

export type JsonBody =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: DetailEntry };

/** Deeper bodies are refused, so that no recursion over a body can exhaust the stack. */
export const MAX_JSON_DEPTH = 256;

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Reads a JSON body; an empty one reads as `undefined` (a route that needs a body then misses it).
 * `__proto__` and `constructor` come out as ordinary own keys: JSON.parse defines members, it never assigns them.
 */
export function parseJsonBody(bytes: Buffer): JsonBody {
  const start = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? BYTE_ORDER_MARK.length : 0;
  if (bytes.length === start) return { ok: true, value: undefined };
  if (!isUtf8(bytes)) return invalid(0, 'The body is not UTF-8');
  const text = bytes.toString('utf8', start);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return invalid(errorOffset(error, text), 'JSON decode error');
  }
  if (!isTame(value, MAX_JSON_DEPTH)) {
    return invalid(
      0,
      `JSON nested deeper than ${MAX_JSON_DEPTH} levels, or a number beyond the range of a double`,
    );
  }
  return { ok: true, value };
}

/** Whether a parsed value nests at most `room` levels and holds no overflowed number (`1e999` parses as Infinity). */
function isTame(value: unknown, room: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (room === 0) return false;
  if (Array.isArray(value)) return value.every((member) => isTame(member, room - 1));
  for (const key in value) {
    if (!isTame((value as Record<string, unknown>)[key], room - 1)) return false;
  }
  return true;
}

/** Where the text went wrong, as far as the engine tells: it leaves the place out for some short texts. */
function errorOffset(error: unknown, text: string): number {
  const message = error instanceof Error ? error.message : '';
  const offset = / at position (\d+)/.exec(message)?.[1];
  if (offset !== undefined) return Number(offset);
  return message.startsWith('Unexpected end') ? text.length : 0;
}

function invalid(offset: number, msg: string): JsonBody {
  return { ok: false, fault: { type: 'json_invalid', loc: ['body', offset], msg, input: {} } };
}
