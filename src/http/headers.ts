import { parsePosition } from '../event-store/position.js';
import type { Position } from '../event-store/position.js';
import { ApiError, unprocessable } from './errors.js';

/** A header as Node gives it: repeated ones arrive joined by a comma or as a list. */
export type HeaderValue = string | readonly string[] | undefined;

/** `*`: whichever version exists; else the position of the last event on the resource's own stream. */
export type IfMatch = '*' | Position;

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const ENTITY_TAG = /^"([0-9]+)"$/;

/** 1..255 visible ASCII characters, else 422. Null when absent. */
export function parseIdempotencyKey(value: HeaderValue): string | null {
  if (value === undefined) return null;
  const key = single(value);
  if (VISIBLE_ASCII.test(key)) return key;
  throw unprocessable([
    {
      type: 'string_pattern_mismatch',
      loc: ['header', 'idempotency-key'],
      msg: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
      input: key.slice(0, 255),
    },
  ]);
}

/** The position that a read must have reached; malformed is 400. Null when absent. */
export function parseMinPosition(value: HeaderValue): Position | null {
  if (value === undefined) return null;
  const position = parsePosition(single(value));
  if (position === null) throw new ApiError('invalid_input', 'Rollcall-Min-Position is not a position.');
  return position;
}

/** Whether `Prefer` names `respond-async` (RFC 7240); other preferences are ignored. */
export function prefersAsync(value: HeaderValue): boolean {
  if (value === undefined) return false;
  return single(value)
    .split(',')
    .some((preference) => preference.split(';', 1)[0]?.trim().toLowerCase() === 'respond-async');
}

/** `"<position>"` or `*`; malformed (weak tags and lists too) is 400. Null when absent. */
export function parseIfMatch(value: HeaderValue): IfMatch | null {
  if (value === undefined) return null;
  const text = single(value).trim();
  if (text === '*') return '*';
  const position = parsePosition(ENTITY_TAG.exec(text)?.[1] ?? '');
  if (position === null) throw new ApiError('invalid_input', 'If-Match must be "<position>" or *.');
  return position;
}

function single(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(', ');
}
