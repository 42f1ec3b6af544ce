import { createHash } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import type { ContentCheck, ContentProblem } from './domain/decide.js';
import { isLinear, linearPattern } from './linear-pattern.js';
import { TimeBox } from './time-box.js';

/** An honest form takes a few milliseconds, and some dozens the first time. */
const CHECK_MS = 500;
const KEPT_BYTES = 32 * 1024 * 1024;
/** What a compiled schema holds, as measured: its validator, and code that grows with its text. */
const VALIDATOR_BYTES = 16 * 1024;
const COMPILED_PER_CHARACTER = 32;

interface Compiled {
  /** Null: the schema asks for nothing. */
  readonly validate: ValidateFunction | null;
  readonly bytes: number;
}

/**
 * Checks content against a prompt's `requestedSchema`. Whoever asks wrote the schema, so it must not be able to stop
 * the process: patterns are matched in linear time, and the whole check is bounded. A schema that is none, or that
 * cannot be evaluated (`$async`, references to elsewhere or without end, too much work), asks for nothing; so does a
 * pattern that needs back references or look-around, while the rest of its schema stands.
 */
export function createContentCheck(): ContentCheck {
  const timeBox = new TimeBox(CHECK_MS);
  const kept = new LRUCache<string, Compiled>({ maxSize: KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes });

  function check(key: string, text: string, content: object): ContentProblem | null {
    let compiled = kept.get(key);
    if (!compiled) {
      compiled = { validate: compile(text), bytes: bytesOf(text) };
      kept.set(key, compiled);
    }
    if (!compiled.validate || compiled.validate(content)) return null;
    return problemOf(compiled.validate.errors?.[0]);
  }

  return (schema, content) => {
    const text = JSON.stringify(schema);
    const key = createHash('sha256').update(text).digest('base64');
    try {
      return timeBox.run(() => check(key, text, content));
    } catch {
      kept.set(key, { validate: null, bytes: VALIDATOR_BYTES });
      return null;
    }
  };
}

function bytesOf(text: string): number {
  return VALIDATOR_BYTES + text.length * COMPILED_PER_CHARACTER;
}

/** Throws when it is no schema. */
function compile(text: string): ValidateFunction | null {
  // One instance per schema: schemas with the same $id would collide, and nothing may be referenced across prompts.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    logger: false,
    code: { regExp: linearPattern },
  });
  formats.default(ajv, { mode: 'fast' });
  const schema = JSON.parse(text, withoutUnmatchable) as Record<string, unknown>;
  return schema['$async'] === true ? null : ajv.compile(schema);
}

function withoutUnmatchable(key: string, value: unknown): unknown {
  return key === 'pattern' && typeof value === 'string' && !isLinear(value) ? undefined : value;
}

function problemOf(error: ErrorObject | undefined): ContentProblem {
  const path = (error?.instancePath ?? '').split('/').slice(1).map(unescapePointer);
  const missing: unknown = error?.params['missingProperty'];
  return {
    path: typeof missing === 'string' ? [...path, missing] : path,
    message: `content ${error?.message ?? 'does not fit the requested schema'}`,
  };
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
