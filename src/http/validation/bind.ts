import type { DetailEntry } from '../errors.js';
import { parseQueryBoolean, parseQueryNumber } from './query-text.js';
import { echo } from './echo.js';
import type { FaultList } from './fault-list.js';
import { planOf } from './dto-plan.js';
import type { DtoClass, FieldPlan } from './dto-plan.js';

export type Source = 'body' | 'query';
export type Location = readonly (string | number)[];

/** What binding needs to know on the way down; faults are collected, never thrown. */
export interface Binding {
  readonly source: Source;
  readonly faults: FaultList;
}

/**
 * Copies the declared members of a plain object into a new DTO; values are taken by reference, whatever they hold.
 * (class-transformer would clone them, drop keys such as `constructor`, and throw on some.)
 * Null, with a fault recorded, when the value is no object.
 */
export function bindObject(dto: DtoClass, value: unknown, loc: Location, binding: Binding): object | null {
  if (!isPlainObject(value)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    binding.faults.add({ type: 'model_attributes_type', loc, msg, input: echo(value) });
    return null;
  }
  const plan = planOf(dto);
  const target: Record<string, unknown> = new dto() as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    const field = plan.fields.get(key);
    if (field !== undefined) target[key] = bindField(field, value[key], [...loc, key], binding);
    else if (plan.isStrict) binding.faults.add(extraForbidden([...loc, key], value[key]));
  }
  return target;
}

function bindField(field: FieldPlan, value: unknown, loc: Location, binding: Binding): unknown {
  switch (field.kind) {
    case 'value':
      return value;
    case 'number':
      return binding.source === 'query' && typeof value === 'string' ? parseQueryNumber(value) : value;
    case 'boolean':
      return binding.source === 'query' && typeof value === 'string' ? parseQueryBoolean(value) : value;
    case 'list':
      return binding.source === 'query' && typeof value === 'string' ? [value] : value;
    case 'nested':
      if (value === null) return null;
      if (!field.isList) return bindObject(field.dto, value, loc, binding) ?? undefined;
      if (!Array.isArray(value)) return value;
      return value.map((member, index) => bindObject(field.dto, member, [...loc, index], binding));
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function extraForbidden(loc: Location, value: unknown): DetailEntry {
  return { type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input: echo(value) };
}
