import 'reflect-metadata';

const STRICT = Symbol('strict body');
const OPTIONAL = Symbol('optional body');

/** Unknown members are refused (`extra_forbidden`) instead of ignored; holds for this object, not for nested ones. */
export const StrictBody = (): ClassDecorator => (target) => Reflect.defineMetadata(STRICT, true, target);

/** A request without a body means an empty object. */
export const OptionalBody = (): ClassDecorator => (target) => Reflect.defineMetadata(OPTIONAL, true, target);

export function isStrict(dto: object): boolean {
  return Reflect.getMetadata(STRICT, dto) === true;
}

export function isOptional(dto: object): boolean {
  return Reflect.getMetadata(OPTIONAL, dto) === true;
}
