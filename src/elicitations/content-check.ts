import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import type { ContentCheck } from './domain/decide.js';

const KEPT_SCHEMAS = 500;

/** Checks content against a prompt's `requestedSchema`. A schema that is none asks for nothing. */
export function createContentCheck(): ContentCheck {
  const compiled = new LRUCache<string, { readonly validate: ValidateFunction | null }>({
    max: KEPT_SCHEMAS,
  });
  return (schema, content) => {
    const text = JSON.stringify(schema);
    let entry = compiled.get(text);
    if (!entry) {
      entry = { validate: compile(text) };
      compiled.set(text, entry);
    }
    if (!entry.validate || entry.validate(content)) return null;
    const error = entry.validate.errors?.[0];
    const path = (error?.instancePath ?? '').split('/').slice(1).map(unescapePointer);
    const missing: unknown = error?.params['missingProperty'];
    return {
      path: typeof missing === 'string' ? [...path, missing] : path,
      message: `content ${error?.message ?? 'does not fit the requested schema'}`,
    };
  };
}

function compile(text: string): ValidateFunction | null {
  // One instance per schema: schemas with the same $id would collide, and nothing may be referenced across prompts.
  const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false });
  formats.default(ajv);
  try {
    const schema = JSON.parse(text) as Record<string, unknown>;
    return schema['$async'] === true ? null : ajv.compile(schema);
  } catch {
    return null;
  }
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
