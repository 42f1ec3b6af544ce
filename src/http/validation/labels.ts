import { registerDecorator } from 'class-validator';
import type { ValidationOptions } from 'class-validator';
import { fitsCodePoints } from '../../text/code-points.js';
import { isSafeText } from '../../text/well-formed.js';

export const MAX_LABELS = 200;
/** contract/sessions.md 1.8; values are cut by the domain, not refused. */
export const MAX_LABEL_KEY = 128;

/** The first thing wrong with a map of labels; `key` is the label at fault, null for the map itself. */
export interface LabelsFault {
  readonly type: string;
  readonly key: string | null;
  readonly msg: string;
  readonly input: unknown;
}

export function labelsFault(value: unknown): LabelsFault | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { type: 'dict_type', key: null, msg: 'Input should be a valid dictionary', input: value };
  }
  const entries: [string, unknown][] = Object.entries(value);
  if (entries.length > MAX_LABELS) {
    return {
      type: 'too_long',
      key: null,
      msg: `Dictionary should have at most ${MAX_LABELS} items`,
      input: value,
    };
  }
  for (const [key, label] of entries) {
    const fault = labelFault(key, label);
    if (fault !== null) return fault;
  }
  return null;
}

function labelFault(key: string, label: unknown): LabelsFault | null {
  const fault = (type: string, msg: string): LabelsFault => ({ type, key, msg, input: label });
  if (key === '') return fault('string_too_short', 'Label key should have at least 1 character');
  if (!fitsCodePoints(key, MAX_LABEL_KEY)) {
    return fault('string_too_long', `Label key should have at most ${MAX_LABEL_KEY} characters`);
  }
  if (!isSafeText(key))
    return fault('string_unicode', 'Label key must not contain NUL or unpaired surrogates');
  // A label of this name would be lost, or worse, wherever labels are merged by assignment.
  if (key === '__proto__') return fault('value_error', 'Label key is reserved');
  return typeof label === 'string' ? null : fault('string_type', 'Input should be a valid string');
}

/** An object of string to string. */
export function IsLabels(options?: ValidationOptions): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: 'isLabels',
      target: target.constructor,
      propertyName: String(property),
      options,
      validator: { validate: (value: unknown) => labelsFault(value) === null },
    });
}
