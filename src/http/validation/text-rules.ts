import { registerDecorator } from 'class-validator';
import type { ValidationArguments, ValidationOptions } from 'class-validator';
import { fitsCodePoints } from '../../text/code-points.js';
import { isSafeText } from '../../text/well-formed.js';

/** A string without NUL and unpaired surrogates: for ids, titles and label keys. */
export function IsSafeText(options?: ValidationOptions): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: 'isSafeText',
      target: target.constructor,
      propertyName: String(property),
      options,
      validator: {
        validate: (value: unknown) => typeof value === 'string' && isSafeText(value),
        defaultMessage: () => 'String must not contain NUL or unpaired surrogates',
      },
    });
}

/** A string of at most `max` code points (contract/sessions.md 1.8). */
export function MaxCodePoints(max: number, options?: ValidationOptions): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: 'maxCodePoints',
      target: target.constructor,
      propertyName: String(property),
      constraints: [max],
      options,
      validator: {
        validate: (value: unknown) => typeof value === 'string' && fitsCodePoints(value, max),
        defaultMessage: (args?: ValidationArguments) =>
          `String should have at most ${String(args?.constraints[0] ?? max)} characters`,
      },
    });
}
