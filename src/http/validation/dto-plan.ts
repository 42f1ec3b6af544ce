import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage } from 'class-validator';
import { isOptional, isStrict } from './body-rules.js';

export type DtoClass = new () => object;

export type FieldPlan =
  | { readonly kind: 'value' }
  | { readonly kind: 'number' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'list' }
  | { readonly kind: 'nested'; readonly dto: DtoClass; readonly isList: boolean };

/** What a DTO class declares, read once from its decorators. */
export interface DtoPlan {
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly isStrict: boolean;
  readonly isOptional: boolean;
}

const plans = new WeakMap<DtoClass, DtoPlan>();

export function planOf(dto: DtoClass): DtoPlan {
  const known = plans.get(dto);
  if (known !== undefined) return known;
  const plan = { fields: fieldsOf(dto), isStrict: isStrict(dto), isOptional: isOptional(dto) };
  plans.set(dto, plan);
  return plan;
}

function fieldsOf(dto: DtoClass): ReadonlyMap<string, FieldPlan> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const nested = new Set(
    rules.filter((rule) => rule.type === 'nestedValidation').map((rule) => rule.propertyName),
  );
  const names = new Set(rules.map((rule) => rule.propertyName));
  return new Map([...names].map((name) => [name, fieldPlan(dto, name, nested.has(name))]));
}

function fieldPlan(dto: DtoClass, name: string, isNested: boolean): FieldPlan {
  const declared: unknown = Reflect.getMetadata('design:type', dto.prototype as object, name);
  const isList = declared === Array;
  const type = defaultMetadataStorage.findTypeMetadata(dto, name)?.typeFunction();
  if (isNested) {
    const target = type ?? (isList ? undefined : declared);
    if (!isDtoClass(target)) throw new Error(`${dto.name}.${name} is nested: say its class with @Type()`);
    return { kind: 'nested', dto: target, isList };
  }
  if (type === Number) return { kind: 'number' };
  if (type === Boolean) return { kind: 'boolean' };
  return isList ? { kind: 'list' } : { kind: 'value' };
}

function isDtoClass(type: unknown): type is DtoClass {
  return typeof type === 'function' && type !== Object && type !== Array;
}
