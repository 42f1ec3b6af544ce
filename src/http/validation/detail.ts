import type { ValidationError } from 'class-validator';
import type { DetailEntry } from '../errors.js';
import type { Binding, Location, Source } from './bind.js';
import { echo } from './echo.js';
import { labelsFault } from './labels.js';

/** Adds what class-validator found, as pydantic would tell it: one entry for each field at fault. */
export function addDetails(
  errors: readonly ValidationError[],
  loc: Location,
  parent: unknown,
  { source, faults }: Binding,
): void {
  for (const error of errors) {
    if (faults.isFull) return;
    const at = [...loc, isIndex(error, parent) ? Number(error.property) : error.property];
    const entry = entryOf(error, at, parent, source);
    if (entry === null) addDetails(error.children ?? [], at, error.value, { source, faults });
    // What did not bind is told already, and better.
    else if (!faults.covers(at)) faults.add(entry);
  }
}

function isIndex(error: ValidationError, parent: unknown): boolean {
  return Array.isArray(parent) && /^\d+$/.test(error.property);
}

/** Rules about the kind of a value come first: `{"title": 5}` is no string, before it is too long. */
const KIND_RULES = [
  'isArray',
  'isObject',
  'isLabels',
  'isString',
  'isBoolean',
  'isInt',
  'isNumber',
  'isIn',
  'isEnum',
];

function entryOf(error: ValidationError, loc: Location, parent: unknown, source: Source): DetailEntry | null {
  const broken = error.constraints ?? {};
  const rule = KIND_RULES.find((name) => name in broken) ?? Object.keys(broken)[0];
  if (rule === undefined) return null;
  const value: unknown = error.value;
  if (value === undefined) return { type: 'missing', loc, msg: 'Field required', input: echo(parent) };
  const labels = rule === 'isLabels' ? labelsFault(value) : null;
  if (labels !== null) {
    const { type, key, msg, input } = labels;
    return { type, loc: key === null ? loc : [...loc, key], msg, input: echo(input) };
  }
  if (rule === 'isString' && Array.isArray(value) && source === 'body') return listOfStringsEntry(value, loc);
  const [type, msg] = typeAndMessage(rule, value, source);
  return { type, loc, msg: msg ?? broken[rule] ?? 'Invalid value', input: echo(value) };
}

/** `@IsString({ each: true })`: the place of the first member at fault. */
function listOfStringsEntry(value: readonly unknown[], loc: Location): DetailEntry {
  const index = value.findIndex((member) => typeof member !== 'string');
  const msg = 'Input should be a valid string';
  return index < 0
    ? { type: 'string_type', loc, msg, input: echo(value) }
    : { type: 'string_type', loc: [...loc, index], msg, input: echo(value[index]) };
}

type TypeAndMessage = readonly [type: string, msg?: string];

/** pydantic's name of the broken rule, and its words where class-validator's own would not do. */
function typeAndMessage(rule: string, value: unknown, source: Source): TypeAndMessage {
  const isText = typeof value === 'string';
  switch (rule) {
    case 'isString':
      return ['string_type', 'Input should be a valid string'];
    case 'isSafeText':
      return isText ? ['string_unicode'] : ['string_type', 'Input should be a valid string'];
    case 'maxCodePoints':
    case 'maxLength':
      return isText ? ['string_too_long'] : ['string_type', 'Input should be a valid string'];
    case 'minLength':
    case 'isNotEmpty':
      return isText ? ['string_too_short'] : ['string_type', 'Input should be a valid string'];
    case 'matches':
      return isText ? ['string_pattern_mismatch'] : ['string_type', 'Input should be a valid string'];
    case 'isInt':
      if (source === 'query' && isText) {
        return ['int_parsing', 'Input should be a valid integer, unable to parse string as an integer'];
      }
      return typeof value === 'number'
        ? ['int_from_float', 'Input should be a valid integer, got a number with a fractional part']
        : ['int_type', 'Input should be a valid integer'];
    case 'isNumber':
      return source === 'query' && isText
        ? ['float_parsing', 'Input should be a valid number, unable to parse string as a number']
        : ['float_type', 'Input should be a valid number'];
    case 'isBoolean':
      return source === 'query' && isText
        ? ['bool_parsing', 'Input should be a valid boolean, unable to interpret input']
        : ['bool_type', 'Input should be a valid boolean'];
    case 'isArray':
      return ['list_type', 'Input should be a valid list'];
    case 'isObject':
      return ['dict_type', 'Input should be a valid dictionary'];
    case 'isIn':
    case 'isEnum':
      return ['literal_error'];
    case 'min':
      return ['greater_than_equal'];
    case 'max':
      return ['less_than_equal'];
    case 'arrayMinSize':
    case 'arrayNotEmpty':
      return ['too_short'];
    case 'arrayMaxSize':
      return ['too_long'];
    default:
      return ['value_error'];
  }
}
