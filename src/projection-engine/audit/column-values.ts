import { isDeepStrictEqual } from 'node:util';
import type { ColumnType } from '../../../projections/projection.js';
import { abbreviated, fitsCodePoints } from '../../text/code-points.js';

const SHOWN = 2_000;

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

/** How a column is selected to be compared: exactly, where the driver's own types would round or cannot hold it. */
export function selected(column: string, type: ColumnType): string {
  switch (type) {
    case 'text':
    case 'integer':
    case 'boolean':
      return column;
    case 'bigint':
    case 'timestamptz':
    case 'json':
      return `${column}::text AS ${column}`;
    case 'text[]':
      return `array_to_json(${column})::text AS ${column}`;
  }
}

/** A selected value as it is compared and shown: 64 bits as decimal text, times as ISO 8601 in UTC, JSON as it is. */
export function toValue(type: ColumnType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'json' || type === 'text[]') return JSON.parse(value);
  return type === 'timestamptz' ? toIso(value) : value;
}

/** JSON is compared by value: the order of an object's members means nothing, that of a list does. */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || isDeepStrictEqual(one, other);
}

/** What a report shows of a value: texts beyond 2,000 code points are cut and end in an ellipsis, JSON as a text then. */
export function shown(value: unknown): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return fitsCodePoints(text, SHOWN) ? value : abbreviated(text, SHOWN);
}

/** Microseconds stay, should somebody have put them there; what is no time of the calendar (infinity) stays as it is. */
function toIso(text: string): string {
  const [, date, time, fraction = ''] = TIME.exec(text) ?? [];
  return date === undefined || time === undefined ? text : `${date}T${time}.${fraction.padEnd(3, '0')}Z`;
}
